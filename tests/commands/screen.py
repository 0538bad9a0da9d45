"""screen.py COLUMNS LINES KEYS -- COMMAND...: runs a command on a terminal of its own, types KEYS
one after the other (half a second each, the first after 2.5 s), and prints the last screen before
it ended, as a person would have seen it. Its exit status is the command's.

The terminal understands what ncurses sends to a vt100; what it does not is shown as it is."""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

SEQUENCE = re.compile(rb'\x1b\[([?0-9;]*)([A-Za-z])|\x1b[()][A-Z0-9]|\x1b[=>78]|\x0f|\x0e')


class Screen:
    """The cells of a terminal, and where it writes."""

    def __init__(self, columns, lines):
        self.columns, self.lines, self.row, self.column = columns, lines, 0, 0
        self.cells = [[' '] * columns for _ in range(lines)]
        self.kept = []  # the last screen that was not empty
        self.rest = b''

    def text(self):
        return [''.join(row).rstrip() for row in self.cells]

    def erase(self, first, last):
        for at in range(first, last):
            self.cells[at // self.columns][at % self.columns] = ' '

    def control(self, arguments, letter):
        numbers = [int(n) if n.isdigit() else 0 for n in arguments.lstrip('?').split(';')]
        here = self.row * self.columns + self.column
        if letter in 'Hf':
            numbers += [0, 0]
            self.row = min(max(numbers[0], 1), self.lines) - 1
            self.column = min(max(numbers[1], 1), self.columns) - 1
        elif letter == 'J':
            if any(self.text()):
                self.kept = self.text()
            self.erase(here if numbers[0] == 0 else 0, self.lines * self.columns)
        elif letter == 'K':
            self.erase(here if numbers[0] == 0 else here - self.column,
                       (self.row + 1) * self.columns if numbers[0] == 0 else here + 1)
        elif letter in 'ABCD':
            step = max(numbers[0], 1)
            self.row += {'A': -step, 'B': step}.get(letter, 0)
            self.column += {'C': step, 'D': -step}.get(letter, 0)
        elif letter == 'd':
            self.row = max(numbers[0], 1) - 1
        elif letter == 'G':
            self.column = max(numbers[0], 1) - 1

    def put(self, byte):
        if byte == 13:
            self.column = 0
        elif byte == 10:
            self.row = min(self.row + 1, self.lines - 1)
        elif byte == 9:
            self.column = (self.column // 8 + 1) * 8
        elif byte == 8:
            self.column = max(self.column - 1, 0)
        elif byte >= 32:
            if self.column < self.columns and 0 <= self.row < self.lines:
                self.cells[self.row][self.column] = chr(byte)
            self.column += 1

    def feed(self, data):
        data = self.rest + data
        self.rest = b''
        at = 0
        while at < len(data):
            if data[at] == 27 or data[at] in (14, 15):
                found = SEQUENCE.match(data, at)
                if found is None:
                    if len(data) - at < 16:
                        self.rest = data[at:]
                        return
                    at += 1
                    continue
                if found.group(2):
                    self.control(found.group(1).decode(), found.group(2).decode())
                at = found.end()
            else:
                self.put(data[at])
                at += 1
        if any(self.text()):
            self.kept = self.text()


def main():
    columns, lines, keys = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    pid, terminal = pty.fork()
    if pid == 0:
        time.sleep(0.2)  # until the size is set
        os.environ['TERM'] = 'vt100'
        os.execvp(sys.argv[5], sys.argv[5:])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))
    screen = Screen(columns or 80, lines or 24)
    start, typed = time.monotonic(), 0
    while True:
        if typed < len(keys) and time.monotonic() - start > 2.5 + 0.5 * typed:
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
        screen.feed(data)
    status = os.waitpid(pid, 0)[1]
    print('\n'.join(screen.kept))
    sys.exit(os.waitstatus_to_exitcode(status))


main()
