"""document_commands.py PROGRAMS DOCUMENT FOLDER: runs each line of the sh blocks of a Markdown document, as
printed, with one bash for each block. PROGRAMS is first in PATH; the lines run in FOLDER, which must be empty.

- A command that does not end is interrupted (Ctrl-C) some time after its first output to a terminal or a file.
- `make TARGET` is not run, but the Makefile of the tree must have the target.
- `sudo ...` runs only if the test runs as root.
- A "text output" block after a sh block must be exactly the standard output of that block.
- Each block needs a language, and indented blocks are refused, so that no command escapes the test.

Prints a line for each command that could not be tested ("skip: ...") or that failed ("FAIL: ..."), and the
number of commands that ran. The exit status is 1 when a command failed or the document has none.
"""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 3  # after its first output, a command has this time to end by itself
LIMIT_S = 120  # the limit for the first output, and for the end after Ctrl-C
FENCE = re.compile(r'^```(.*)$')
SETTING = re.compile(r'^[A-Z_]+=')
STATUS_PARTIAL, STATUS_NO_CAPABILITY = 3, 4
MAY_BE_PARTIAL = ('camp check', 'camp load', 'camp verify')


class Block:
    """A fenced block: its info string, its lines, and the line number of the first of them."""

    def __init__(self, info, number):
        self.info, self.number, self.lines = info, number, []

    def commands(self):
        """Yields (line number, command) for each command; a backslash at the end of a line continues it."""
        begin, text = None, ''
        for number, line in enumerate(self.lines, self.number):
            begin, text = (begin, text + '\n' + line) if text else (number, line)
            if line.endswith('\\'):
                continue
            if text.strip() and not text.lstrip().startswith('#'):
                yield begin, text
            text = ''


def read_blocks(document):
    """Returns (blocks, faults) of a document."""
    blocks, faults, block, before = [], [], None, ''
    for number, line in enumerate(document.read_text(encoding='utf-8').splitlines(), 1):
        fence = FENCE.match(line)
        if fence and block is None:
            block = Block(fence.group(1).strip(), number + 1)
            if not block.info:
                faults.append(f'line {number}: the block needs a language: ```sh, ```text')
        elif fence:
            blocks.append(block)
            block = None
        elif block is not None:
            block.lines.append(line)
        elif line.startswith('    ') and not before.strip():
            faults.append(f'line {number}: an indented block: ```sh runs, ```text does not')
        before = line
    return blocks, faults


class Shell:
    """One bash that runs a block, line by line, in a session of its own."""

    def __init__(self, folder, programs):
        self.folder, self.output, self.errors = folder, folder / '.stdout', folder / '.stderr'
        script, self.script = os.pipe()
        self.statuses, statuses = os.pipe()
        environment = {'PATH': f'{programs}:{os.environ["PATH"]}', 'HOME': str(folder), 'TZ': 'UTC', 'LC_ALL': 'C.UTF-8',
                       'USER': 'root' if os.geteuid() == 0 else 'user', 'TERM': 'dumb'}
        with open(self.output, 'wb') as out, open(self.errors, 'wb') as errors:
            self.bash = subprocess.Popen(
                ('bash', '--norc', f'/dev/fd/{script}'), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                stdout=out, stderr=errors, pass_fds=(script, statuses), start_new_session=True)
        os.close(script)
        os.close(statuses)
        os.set_blocking(self.statuses, False)
        self.report = f'printf "%s\\n" $? >&{statuses}\n'
        # Ctrl-C ends the command, not the shell. Root does not need sudo, which may not be installed.
        self.send('trap : INT; set -o pipefail\n')
        if os.geteuid() == 0:
            self.send('sudo() { "$@"; }\n')

    def send(self, text):
        os.write(self.script, text.encode())

    def size(self):
        """The total size of all files and of the output. It changes when a command has printed or written something."""
        return sum(entry.stat().st_size for entry in os.scandir(self.folder) if entry.is_file())

    def status(self, until, ready=lambda: False):
        """Returns the exit status of the running command. None if it has not ended by `until`, or if ready() is true."""
        while time.monotonic() < until and not ready():
            try:
                status = os.read(self.statuses, 16)
            except BlockingIOError:
                time.sleep(0.02)
                continue
            return int(status) if status else self.bash.wait()
        return None

    def run(self, command):
        """Returns (exit status or None, whether the command was interrupted)."""
        size = self.size()
        self.send(f'{command}\n{self.report}')
        status = self.status(time.monotonic() + LIMIT_S, lambda: self.size() != size)
        if status is None and self.size() != size:
            status = self.status(time.monotonic() + PATIENCE_S)
        if status is not None:
            return status, False
        os.killpg(self.bash.pid, signal.SIGINT)
        return self.status(time.monotonic() + LIMIT_S), True

    def end(self):
        """Ends the shell and its background processes. Returns its standard output and standard error."""
        os.close(self.script)
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.bash.pid, number)
            except ProcessLookupError:
                break
            try:
                self.bash.wait(2)
            except subprocess.TimeoutExpired:
                pass
        self.bash.wait()
        os.close(self.statuses)
        return self.output.read_text('utf-8', 'replace'), self.errors.read_text('utf-8', 'replace')


class Trial:
    """The commands of a document that were run, and their results."""

    def __init__(self, document, folder, programs):
        self.document, self.folder, self.programs = document, folder, programs
        self.targets = set(re.findall(r'^([a-z]+):', (TREE / 'Makefile').read_text(), re.MULTILINE))
        self.ran = self.interrupted = self.recognised = 0
        self.skipped, self.failed = [], []

    def make(self, words):
        """Checks that the Makefile has each target of a command `make [NAME=VALUE] TARGET...`."""
        self.recognised += 1
        return [f'the Makefile has no target {word}' for word in words[words.index('make') + 1:]
                if not SETTING.match(word) and word not in self.targets]

    def judge(self, command, status, interrupted, errors):
        """Returns (failure or None, reason to skip or None) of a command that ran."""
        last = errors.strip().splitlines()[-1:] or ['']
        if status == STATUS_NO_CAPABILITY and not self.may_measure():
            return None, last[0]
        if status is None:
            return f'has not ended {LIMIT_S} s after Ctrl-C', None
        if status == STATUS_PARTIAL and command.startswith(MAY_BE_PARTIAL):
            status = 0
        if status != 0:
            return f'ended in {status}{" after Ctrl-C" if interrupted else ""}: {last[0]}', None
        return None, None

    def may_measure(self):
        """Returns whether camp has all capabilities here. Then no command may report a missing capability."""
        facts = subprocess.run((f'{self.programs}/camp', 'doctor', '--format', 'json'), capture_output=True,
                               text=True, check=False).stdout
        return '"microstates":true' in facts

    def block(self, block):
        """Runs the commands of a block. Returns its output, or None when a command was skipped or failed."""
        shell, whole = Shell(self.folder, self.programs), True
        for number, command in block.commands():
            where = f'{self.document.name}:{number}: {" ".join(command.split())}'
            words = shlex.split(command, comments=True)
            if words[:1] == ['make'] or words[:2] == ['sudo', 'make']:
                self.failed += [f'{where}: {fault}' for fault in self.make(words)]
                continue
            if words[0] == 'sudo' and os.geteuid() != 0:
                self.skipped.append(f'{where}: needs root')
                whole = False
                continue
            seen = shell.errors.stat().st_size
            status, interrupted = shell.run(command)
            self.ran += 1
            self.interrupted += interrupted
            failure, reason = self.judge(command, status, interrupted, shell.errors.read_text()[seen:])
            if failure:
                self.failed.append(f'{where}: {failure}')
            if reason:
                self.skipped.append(f'{where}: {reason}')
            whole = whole and not interrupted and not failure and not reason
        output, _ = shell.end()
        return output if whole else None

    def all(self):
        blocks, self.failed = read_blocks(self.document)
        for block, following in zip(blocks, [*blocks[1:], Block('', 0)]):
            if block.info != 'sh':
                continue
            output = self.block(block)
            printed = '\n'.join(following.lines) + '\n'
            if following.info == 'text output' and output is not None and output != printed:
                self.failed.append(f'{self.document.name}:{following.number}: the output is:\n{output}')


def main(programs, document, folder):
    for name in ('camp', 'camp-exporter'):
        if shutil.which(name, path=programs) is None:
            sys.exit(f'document_commands.py: there is no {name} in {programs}')
    trial = Trial(pathlib.Path(document), pathlib.Path(folder), programs)
    trial.all()
    for text in trial.failed:
        print(f'FAIL: {text}')
    for text in trial.skipped:
        print(f'skip: {text}')
    print(f'{trial.ran} lines ran ({trial.interrupted} until Ctrl-C), {trial.recognised} were found in the Makefile, '
          f'{len(trial.skipped)} skipped, {len(trial.failed)} failed')
    return 1 if trial.failed or not trial.ran + trial.recognised else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
