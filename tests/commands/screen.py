"""screen.py COLUMNS LINES KEYS -- COMMAND...: runs a command on a terminal of its own (pyte), types
KEYS one after the other, and prints the screen before the last key, which is typed half a second after
the key before it. The first key is typed half a second after the first interval is shown, or after
20 s (3 s on a terminal too small to show an interval). The exit status is that of the command."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

import pyte

LATEST_S, LOOK_S, EACH_S = 20, 0.5, 0.1
FIRST_SIGNS = ('tier ', 'camp top  each ')  # texts that only a screen with an interval has


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
    latest_s = LATEST_S if screen.columns > len(FIRST_SIGNS[0]) else 3
    next_key, typed, seen, begun = time.monotonic() + latest_s, 0, [], False
    while True:
        if not begun and any(sign in line for sign in FIRST_SIGNS for line in screen.display[:2]):
            next_key, begun = time.monotonic() + LOOK_S, True
        if typed < len(keys) and time.monotonic() > next_key:
            seen, begun = [line.rstrip() for line in screen.display], True
            os.write(terminal, keys[typed].encode())
            typed += 1
            next_key = time.monotonic() + (EACH_S if typed < len(keys) - 1 else LOOK_S)
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
