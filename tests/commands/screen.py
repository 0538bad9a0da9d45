"""screen.py COLUMNS LINES KEYS -- COMMAND...: runs a command on a terminal of its own (pyte), types
KEYS one after the other (half a second each, the first half a second after an interval is there, or
after 8 s), and prints the screen before the last of them, as a person would have seen it. Its exit
status is the command's."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

import pyte

LATEST_S, EACH_S = 8, 0.5
FIRST_SIGN = 'tier '  # of an interval


def main():
    columns, lines, keys = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    pid, terminal = pty.fork()
    if pid == 0:
        time.sleep(0.2)  # until the size is set
        os.environ['TERM'] = 'linux'
        os.execvp(sys.argv[5], sys.argv[5:])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))
    screen = pyte.Screen(columns or 80, lines or 24)
    stream = pyte.ByteStream(screen)
    next_key, typed, seen, begun = time.monotonic() + LATEST_S, 0, [], False
    while True:
        if not begun and FIRST_SIGN in screen.display[min(1, len(screen.display) - 1)]:
            next_key, begun = time.monotonic() + EACH_S, True
        if typed < len(keys) and time.monotonic() > next_key:
            next_key, begun = time.monotonic() + EACH_S, True
            seen = [line.rstrip() for line in screen.display]
            os.write(terminal, keys[typed].encode())
            typed += 1
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        stream.feed(data)
    status = os.waitpid(pid, 0)[1]
    print('\n'.join(seen))
    sys.exit(os.waitstatus_to_exitcode(status))


main()
