"""screen.py COLUMNS LINES KEYS -- COMMAND...: runs a command on a terminal of its own (pyte), types
KEYS one after the other, and prints the screen before the last key, which is typed half a second after
the key before it. The first key is typed half a second after the first interval is shown, or after
20 s (3 s on a terminal too small to show an interval). A text of KEYS between two characters 0x1e is not
typed: the next key waits until the screen shows that text, for at most 60 s. The exit status is that of
the command."""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

import pyte

LATEST_S, LOOK_S, EACH_S, WAIT_S = 20, 0.5, 0.1, 60
FIRST_SIGNS = ('tier ', 'camp top  each ')  # texts that only a screen with an interval has


def keys_and_waits(text):
    """The keys of the argument KEYS, each with the text that the screen has to show before, or ''."""
    keys, awaited = [], ''
    for part in re.findall('\x1e[^\x1e]*\x1e|.', text, re.DOTALL):
        if len(part) > 1:
            awaited = part[1:-1]
        else:
            keys.append((part, awaited))
            awaited = ''
    return keys


def main():
    columns, lines, keys = int(sys.argv[1]), int(sys.argv[2]), keys_and_waits(sys.argv[3])
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
        if typed < len(keys) and time.monotonic() > next_key and (
                time.monotonic() > next_key + WAIT_S or any(keys[typed][1] in line for line in screen.display)):
            seen, begun = [line.rstrip() for line in screen.display], True
            os.write(terminal, keys[typed][0].encode())
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
