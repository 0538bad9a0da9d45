"""The common part of tools/run-tests and tools/run-deep: how a suite of tests runs, how its results are
counted, and when a test is run again ("asked again").

A *runner* is a function of a list of test names (None: all of them) which returns
{name: (passed, [(failed test, its output)], [skipped test with its reason])}.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import time

TREE = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = TREE / 'tests' / 'fixtures'
LIMIT_S = 1200  # the limit of one step: a step that hangs is a failure
JOBS = str(2 * (os.cpu_count() or 1))  # tests that do not measure time mostly wait: run more of them than CPUs

# One line of a cmocka program: "[       OK ] name", "[  FAILED  ] name".
CMOCKA = re.compile(r'^\[\s+(OK|FAILED|SKIPPED)\s+\] ([a-z]\w+)', re.MULTILINE)
# meson prints "camp:live / load" for a program, newer versions print "live - camp:load".
PROGRAM = re.compile(r'^\S+ (/ |- \w+:)')
TAP = re.compile(r'^(not ok|ok) \d+ (.*?)(?: # skip(.*))?$')
# bats prints this in place of the tests of a file whose setup_file failed, or after the tests of a file whose
# teardown_file failed.
FILE_FAILED = re.compile(
    r'^(not ok \d+) (setup|teardown)_file failed\n((?:#.*\n)*?#.*\bin test file (.*\.bats), line \d+)',
    re.MULTILINE)


class Suite:
    """Runs steps and counts their results.

    A test that fails is run once more, alone. A second failure is a failure of the suite. More than
    ASKED_AGAIN_LIMIT tests that were asked again are a failure, too: a race is a defect, and this
    limit makes it visible.
    """

    ASKED_AGAIN_LIMIT = 3
    SHOWN_LINES, SHOWN_CHARACTERS = 6, 300  # of the first output of a test that is asked again

    def __init__(self, name):
        self.name = name
        self.start = time.monotonic()
        self.passed = 0
        self.failed = []
        self.skipped = []
        self.asked_again = []
        self.log = TREE / 'build' / f'{name}-asked-again.log'  # the first output of tests that were asked again
        self.log.parent.mkdir(exist_ok=True)
        self.log.unlink(missing_ok=True)
        # After this time (seconds since 1970), no step starts. Continuous integration sets it.
        self.until = float(os.environ.get('STEPS_UNTIL', 'inf'))

    def step(self, name, run):
        """Runs one step and prints its result. False when a test of it failed."""
        if time.time() > self.until:
            print(f'skip {name}: there is no time left for this step')
            self.skipped.append(name)
            return True
        print(f'-- {name}', flush=True)
        start = time.monotonic()
        passed, failed, skipped = self.ask(name, run)
        for test, output in failed:
            print(f'FAIL {name}: {test}\n{output.rstrip()}\n')
            self.failed.append(f'{name}: {test}')
        for test in skipped:
            print(f'skip {name}: {test}')
            self.skipped.append(f'{name}: {test}')
        shown = f', {len(failed)} FAILED' if failed else ''
        print(f'   {passed} passed{shown} ({time.monotonic() - start:.1f} s, {name})', flush=True)
        self.passed += passed
        return not failed

    def together(self, *lanes):
        """Runs functions of the suite at the same time, so that one computes while another waits."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for lane in [pool.submit(lane, self) for lane in lanes]:
                lane.result()

    def ask(self, step, run):
        """(passed, failed, skipped) of a step, after each test that failed was run once more."""
        steal = Steal()
        results = run(None)
        broken = sorted(name for name, (_, failed, _) in results.items() if failed)
        for name in broken:
            if len(self.asked_again) > self.ASKED_AGAIN_LIMIT:
                break  # the suite has failed already
            if not getattr(run, 'repeatable', True):
                break
            self.remember(step, results[name][1], steal)
            results[name] = run([name]).get(name, results[name])
        return tuple(sum(counts, type(counts[0])()) for counts in zip(*results.values()))

    def remember(self, step, failed, steal):
        """Counts a test that is asked again, and keeps its output."""
        with open(self.log, 'a', encoding='utf-8') as log:
            for test, output in failed:
                print(f'   asked again: {test} ({steal})', flush=True)
                for line in output.rstrip().splitlines()[-self.SHOWN_LINES:]:
                    print(f'      {line[:self.SHOWN_CHARACTERS]}', flush=True)
                log.write(f'{step}: {test}\n{output.rstrip()}\n\n')
                self.asked_again.append(f'{step}: {test}')

    def end(self):
        """Prints the failures, and the sums in the last line. Returns the exit status."""
        if len(self.asked_again) > self.ASKED_AGAIN_LIMIT:
            self.failed.append(f'{len(self.asked_again)} tests were asked again; '
                               f'at most {self.ASKED_AGAIN_LIMIT} may be')
        for test in self.asked_again:
            print(f'asked again: {test} (its first output: {self.log.relative_to(TREE)})')
        for test in self.failed:
            print(f'FAIL {test}')
        minutes, seconds = divmod(round(time.monotonic() - self.start), 60)
        print(f'{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped, '
              f'{len(self.asked_again)} asked again, in {minutes}:{seconds:02d}')
        return 1 if self.failed or not self.passed else 0


class Steal:
    """The share of a CPU that a hypervisor stole since this object was created."""

    def __init__(self):
        self.start, self.stolen_s = time.monotonic(), self.since_boot_s()

    @staticmethod
    def since_boot_s():
        with open('/proc/stat', encoding='ascii') as stat:
            return int(stat.readline().split()[8]) / os.sysconf('SC_CLK_TCK')

    def __str__(self):
        seconds = max(time.monotonic() - self.start, 0.01)
        return f'a hypervisor stole {100 * (self.since_boot_s() - self.stolen_s) / seconds:.1f} % of a CPU'


def command(*words, **environment):
    """(exit status, output) of a command, run in the tree without an input."""
    try:
        done = subprocess.run(
            words, cwd=TREE, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as late:
        return 124, f'{text(late.stdout)}\nno end within {LIMIT_S} s: {" ".join(words)}'
    except OSError as error:
        return 127, f'{words[0]}: {error.strerror}'
    return done.returncode, text(done.stdout)


def text(output):
    return (output or b'').decode('utf-8', 'replace')


def once(run):
    """Marks a runner whose failures do not depend on time: its tests are not asked again."""
    run.repeatable = False
    return run


def check(*words, **environment):
    """A runner of one test, which passes when the command ends with status 0."""
    def run(_):
        status, output = command(*words, **environment)
        return {words[0]: (1, [], []) if status == 0 else (0, [(words[0], output)], [])}
    return once(run)


def build(directory, *options, **environment):
    return check('tools/build', directory, *options, **environment)


def of_cmocka(program):
    """(passed, failed, skipped) of one program in meson's log."""
    name = PROGRAM.sub('', program['name'])
    shown = program.get('stdout', '') + program.get('stderr', '')
    results = CMOCKA.findall(shown)
    # cmocka prints the name of a failed or skipped test twice: when it ends, and in the summary.
    broken = list(dict.fromkeys(test for result, test in results if result == 'FAILED'))
    failed = [(f'{name}: {test}', shown if test == broken[0] else '(see above)')
              for test in broken]
    skipped = []
    for test in dict.fromkeys(test for result, test in results if result == 'SKIPPED'):
        said = re.search(rf'RUN +\] {test}\n(.*?)\[  SKIPPED', shown, re.DOTALL)
        reason = ' '.join(said.group(1).split()) if said else ''
        skipped.append(f'{name}: {test}: {reason or "no reason given"}')
    if '[ RUN ' not in shown and program['result'] == 'OK':
        return 1, [], []  # a test of another kind: its exit status is its only result
    if program['result'] == 'SKIP':
        skipped.append(f'{name}: {shown.strip()}')
    elif 'test(s) run.' not in shown or (program['result'] != 'OK' and not broken):
        running = re.findall(r'RUN +\] (\w+)', shown)
        where = f' in {running[-1]}' if running else ''
        failed.append((f'{name}: {program["result"]}, status {program.get("returncode")}{where}',
                       shown))
    return sum(result == 'OK' for result, _ in results), failed, skipped


def of_meson(directory, suite, without=(), **environment):
    """A runner of the unit or live tests of a build, except the programs `without`."""
    def run(names):
        log = TREE / directory / 'meson-logs' / 'testlog.json'
        log.unlink(missing_ok=True)
        meson = ('meson', 'test', '-C', directory, '--no-rebuild', '--suite', suite)
        names = names or [PROGRAM.sub('', line) for line in command(*meson, '--list')[1].splitlines()
                          if PROGRAM.match(line)]
        status, output = command(*meson, *(name for name in names if name not in without),
                                 **environment)
        results = {}
        for line in log.read_text().splitlines() if log.exists() else ():
            program = json.loads(line)
            results[PROGRAM.sub('', program['name'])] = of_cmocka(program)
        if not any(passed or failed or skipped for passed, failed, skipped in results.values()):
            results[suite] = 0, [(f'meson test ended with status {status} without a result', output)], []
        return results
    return run


def of_tap(tool, status, output):
    """{test: (passed, failed, skipped)} of a tool's output in TAP, and of its exit status."""
    results, name = {}, ''
    for line in output.splitlines():
        result = TAP.match(line)
        if result is not None:
            name = result.group(2)
            if result.group(3) is not None:
                results[name] = 0, [], [f'{name}: {result.group(3).strip()}']
            elif result.group(1) == 'ok':
                results[name] = 1, [], []
            else:
                results[name] = 0, [(name, '')], []
        elif line.startswith('#') and name in results and results[name][1]:
            results[name] = 0, [(name, results[name][1][0][1] + line + '\n')], []
        elif line.startswith('1..0 # skip'):
            results[tool] = 0, [], [line[len('1..0 # skip'):].strip()]
    if not results or status != 0 and not any(failed for _, failed, _ in results.values()):
        results[tool] = 0, [(f'{tool} ended with status {status}', output)], []
    return results


def of_bats(files, tags, jobs='1', **environment):
    """A runner of the bats tests that have these tags, `jobs` of them at once. A file whose setup_file
    failed counts as one test with the file's name, and the whole file is asked again."""
    def bats(*words):
        status, output = command('bats', '--tap', '--print-output-on-failure', '--filter-tags', tags, *words,
                                 **environment)
        return of_tap('bats', status, FILE_FAILED.sub(file_failed, output))

    def run(names):
        whole = ('--jobs', jobs, *map(str, files))
        if not names:
            return bats(*whole)
        # bats failed, but no test. With many jobs, its shell may lose the status of a child.
        if names == ['bats']:
            return {'bats': (0, [one for _, failed, _ in bats(*whole).values() for one in failed], [])}
        results = {}
        for name in names:
            if name.endswith('.bats'):
                of_file = bats(str(TREE / name)).values()
                results[name] = tuple(sum(counts, type(counts[0])()) for counts in zip(*of_file))
            else:
                only = re.sub(r'[^\w ]', '.', name)
                results.update(bats('--filter', f'^{only}$', *map(str, files)))
        return results
    return run


def file_failed(shown):
    """The line of a test that represents the failed setup_file or teardown_file (FILE_FAILED)."""
    test, when, where, file = shown.groups()
    name = os.path.relpath(TREE / file, TREE)
    return f'{test} {name if when == "setup" else name + ": teardown_file"}\n{where}'


def of_program(*words, **environment):
    """A runner of a program which prints TAP and takes the names of tests."""
    def run(names):
        return of_tap(words[0], *command(*words, *(names or ()), **environment))
    return run


def of_lines(*words, **environment):
    """A runner of a program which prints "ok NAME", "FAIL NAME" or "skip NAME: REASON" for each test."""
    def run(_):
        status, output = command(*words, **environment)
        results = {name: (1, [], []) for name in re.findall(r'^ok +([^:\n]+)', output, re.MULTILINE)}
        results.update({name: (0, [(name, output)], [])
                        for name in re.findall(r'^FAIL +([^:\n]+)', output, re.MULTILINE)})
        results.update({line: (0, [], [line]) for line in re.findall(r'^skip +(.+)', output, re.MULTILINE)})
        if not results or status != 0 and not any(failed for _, failed, _ in results.values()):
            results[words[0]] = 0, [(f'{" ".join(words)} ended with status {status}', output)], []
        return results
    return once(run)


def bats_files(folder, without=()):
    """The .bats files in a folder of tests/, in order, except the files `without`."""
    return [file for file in sorted((TREE / 'tests' / folder).glob('*.bats')) if file.stem not in without]
