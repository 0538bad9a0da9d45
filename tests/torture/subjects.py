"""The commands of camp that tools/torture runs, and what each of them must give."""
import collections.abc
import dataclasses
import http.client
import json
import pathlib
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import time

import faults

# Faults of libraries, by what they print. camp cannot prevent them.
OF_LIBRARIES = {
    'nss_database.c': 'glibc 2.36 reads /etc/nsswitch.conf at the first getpwuid(3), and ends the program when there '
                      'is no memory for it',
    'Error in GnuTLS initialization': 'GnuTLS, which libmicrohttpd loads, prints this when there is no memory for it',
    'LeakSanitizer: CHECK failed': 'LeakSanitizer itself has no memory when a thread starts',
    'cannot allocate memory for thread-local data': 'the dynamic loader of glibc ends the program with this message',
}
# Crashes in libraries, by a function between the crash and the first function of camp.
CRASHES = re.compile(
    # glibc before 2.42 frees memory twice when there is none for a bracket expression (CVE-2025-8058)
    r'libc\.so[.\d]*\(regcomp\+'
    # glibc 2.36 has no list of services, and uses it
    r'|libc\.so[.\d]*\(__nss_\w+_lookup2\+'
    # Connector/C uses what it could not allocate in functions of its own
    r'|libmariadb\.so[.\d]*\(\+')
# Memory that glibc does not free after a failure of its own.
LEAKS = re.compile(r'regcomp\.c|regex_internal\.c')
LOADER = 'is not installed: apt install'  # camp shows the message of dlerror(3), which glibc does not free
REQUESTS = 3  # a server may lose a request to a fault, but not all of them
STREAM_END = 5  # the type of the last block of the stream (docs/stream.md)


def exact(output):
    return output


def first_words(output):
    """Of numbers that change, only their names are compared."""
    words = [line.split(None, 1)[0] for line in output.splitlines() if line.strip()]
    return ['a number' if word.isdigit() else word for word in words]


def any_output(output):
    return bool(output.strip())


def compared_rows(output):
    """Of a comparison, the rows. A recording whose tier cannot be read has "recording" as its tier."""
    return [line for line in output.splitlines() if line.startswith(b'p ')]


def reasons_of_rows(output):
    """What camp verify says about the rows that it could not test, or that failed."""
    return [f'camp verify: {row["reason"]}' for row in json.loads(output)['rows'] if row['reason']]


def keys_of_lines(output):
    """Of JSON on each line, the keys at the top."""
    return [sorted(json.loads(line)) for line in output.splitlines()]


@dataclasses.dataclass
class Subject:
    """`words` follow the program. `shape` reduces the output to what is the same in each run. `files` are
    written when the command succeeds. A failed command leaves none of them, unless they are whole; but a
    recording that was started keeps what was recorded. `degrades`: the command may give a smaller result, and
    then names in one line what is missing. `names_each`: it names each missing part in a line of its own. `reasons`
    finds in the output what the command says there, and not on stderr. Without `leaks`, LeakSanitizer cannot run it."""
    name: str
    words: tuple
    shape: collections.abc.Callable = exact
    files: tuple = ()
    program: str = 'camp'
    drive: collections.abc.Callable = None
    degrades: bool = False
    names_each: bool = False
    reasons: collections.abc.Callable = None
    leaks: bool = True


class NoAnswer(Exception):
    """A server that runs, but answers none of the requests."""


def address_of(process, output):
    """The URL that a server prints; None if it ended first."""
    end = time.monotonic() + faults.LIMIT_S
    while time.monotonic() < end:
        found = re.match(rb'http://127\.0\.0\.1:(\d+)/\S*\n', output())
        if found:
            return int(found[1]), found[0].decode().rpartition('#')[2].strip()
        if faults.has_ended(process, 0.002):
            return None
    raise NoAnswer('the server printed no address')


def request(port, path, headers, wanted):
    """The body of the answer; with `wanted`, as much of it as this function asks for."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=5)
    try:
        connection.request('GET', path, headers=headers)
        answer = connection.getresponse()
        if answer.status != 200:
            raise NoAnswer(f'{path}: status {answer.status}')
        return wanted(answer)
    finally:
        connection.close()


def whole(answer):
    return answer.read()


def until_stream_end(answer):
    while True:
        head = answer.read(8)
        if len(head) < 8:
            raise NoAnswer('the stream was cut off')
        size, kind = struct.unpack('<II', head)
        answer.read((size + 7) // 8 * 8)
        if kind == STREAM_END:
            return b'end'


def ask(process, output, paths):
    """Each path must be answered within REQUESTS requests. Then SIGTERM ends the server."""
    address = address_of(process, output)
    if address is None:
        return
    port, token = address
    for path, wanted in paths:
        for attempt in range(REQUESTS):
            try:
                if request(port, path, {'Authorization': f'Bearer {token}'} if token else {}, wanted):
                    break
                raise NoAnswer(f'{path}: an empty answer')
            except (OSError, http.client.HTTPException, NoAnswer) as problem:
                if faults.has_ended(process, 0.002):
                    return
                if attempt == REQUESTS - 1:
                    raise NoAnswer(f'{path}: {problem!r}') from problem
    process.send_signal(signal.SIGTERM)


def view(process, output):
    ask(process, output, [('/', whole), ('/stream', until_stream_end)])


def scrape(process, output):
    ask(process, output, [('/metrics', whole)])


def address_only(output):
    return output.startswith(b'http://127.0.0.1:')


def loads_of():
    """The loads, small, and with shares of a CPU that a busy machine has, too."""
    brief = ('--duration', '20ms')
    sleeping = ('--percent', '5', '--period', '5ms', *brief)
    return [Subject(f'load-{name}', ('load', kind, *words), first_words) for name, kind, words in (
        ('cpu', 'cpu', brief),
        ('fork', 'fork', ('--rate', '200', '--burn', '0.1ms', *brief)),
        ('memory', 'memory', ()),
        ('net', 'net', ('--packets', '20')),
        ('read', 'io', ('--file', 'data', '--bytes', '64K')),
        ('write', 'io', ('--file', 'data', '--bytes', '64K', '--write')),
        ('lock', 'lock', sleeping),
        ('pipe', 'pipe', sleeping),
        ('sleep', 'sleep', sleeping),
        ('fault', 'fault', ('--pages', '16')),
        ('threads', 'threads', ('--threads', '2', '--percent', '5', *brief)),
    )]


def subjects_of(inputs, port):
    """`port` is that of a Prometheus server; the other servers have Unix sockets among the inputs (servers.py)."""
    table, recording, check, rotated, base, workload, series = (str(inputs / name) for name in (
        'table.csv', 'table.camp', 'check.camp', 'rotated', 'table.sqlite', 'workload', 'series'))
    live = ('--interval', '20ms', '--count', '1')
    return [
        Subject('top-csv', ('top', '--from', table, '--unit', 'ms')),
        Subject('top-recording', ('top', '--from', recording, '--format', 'json')),
        Subject('top', ('top', '--tier', 'schedstat', '--format', 'json', *live), keys_of_lines),
        Subject('top-rotated', ('top', '--from', rotated, '--format', 'json')),
        Subject('top-sqlite', ('top', '--from', f'sqlite:{base}', '--query', 'SELECT * FROM rows', '--unit', 'ms')),
        Subject('top-workload', ('top', '--workload', workload, '--format', 'json', *live),
                keys_of_lines),
        Subject('top-prometheus', ('top', '--from', f'prometheus:127.0.0.1:{port}', '--format', 'json', *live),
                keys_of_lines),
        Subject('top-postgres', ('top', '--from', f'postgres:host={inputs} user=root dbname=shop', '--tier', 'SQL',
                                 '--format', 'json', *live), keys_of_lines),
        Subject('top-mariadb', ('top', '--from', f'mariadb:socket={inputs}/mariadb user=root', '--tier', 'SQL',
                                '--format', 'json', *live), keys_of_lines),
        Subject('record', ('record', '--from', table, '--unit', 'ms', '--output', 'out.camp'), first_words,
                ('out.camp',)),
        Subject('record-info', ('record', '--info', recording)),
        Subject('report', ('report', '--from', recording, '--output', 'out.html'), exact, ('out.html',)),
        Subject('picture', ('report', '--from', recording, '--picture', 'stack', '--output', 'out.svg'), exact,
                ('out.svg',)),
        Subject('compare', ('compare', f'{series}.csv', f'{series}.csv', '--unit', 'ms', '--format', 'json',
                            '--picture', 'barry3', '--output', 'out.svg'), exact, ('out.svg',)),
        Subject('compare-recordings', ('compare', f'{series}.camp', '--end', '+20s', '--begin-b', '+20s'),
                compared_rows),
        Subject('check-recording', ('check', '--from', check, '--format', 'json')),
        Subject('check-report', ('check', '--from', check, '--report', 'out.html'), exact, ('out.html',)),
        Subject('check', ('check', '--tier', 'schedstat', '--format', 'json', *live), keys_of_lines),
        Subject('view', ('view', '--from', recording, '--speed', '0'), address_only, drive=view),
        Subject('export', ('export', '--port', '0', '--tier', 'schedstat'), address_only, drive=scrape),
        Subject('export-once', ('export', '--once', '--tier', 'schedstat', '--interval', '20ms'), any_output),
        Subject('exporter', ('--port', '0',), address_only, program='camp-exporter', drive=scrape),
        Subject('get', ('get', 'cpu', 'memory', 'kernel'), first_words, names_each=True),
        Subject('list', ('list', 'cpus', '--long'), first_words),
        Subject('list-counters', ('list', 'counters'), first_words),
        Subject('doctor', ('doctor',), any_output),
        Subject('time', ('time', '--format', 'json', '--output', 'out.json', '--', 'true'), exact,
                ('out.json',), degrades=True),
        Subject('wait', ('wait', '--tier', 'kernel', '--format', 'json', *live), keys_of_lines),
        Subject('why', ('why', '--format', 'json', *live), keys_of_lines),
        Subject('why-cgroup', ('why', '--cgroup', '/', '--by', 'cgroup', '--format', 'json', *live), keys_of_lines),
        Subject('explain', ('explain', '--tier', 'schedstat', '--format', 'json', '--interval', '20ms'), keys_of_lines),
        Subject('explain-recording', ('explain', '--from', recording, '--format', 'json')),
        Subject('verify', ('verify', '--only', '*-listed', '--format', 'json'), keys_of_lines,
                reasons=reasons_of_rows, leaks=False),  # its children hang when LeakSanitizer ends one
        *loads_of(),
        Subject('probe', ('probe', '--rate', '50', '--duration', '40ms'), any_output),
    ]


def start_servers(folder):
    """(process, port): servers.py."""
    program = pathlib.Path(__file__).with_name('servers.py')
    process = subprocess.Popen((sys.executable, program, folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return process, int(process.stdout.readline())


def make_inputs(camp, folder):
    """A small table as text, in SQLite, and recorded, and a recording of check: few calls reach all code that reads
    them."""
    rows = ['time,name,run_ms,wait_ms,sleep_ms']
    rows += [f'{1700000000 + second},p{row},{100 * row},{50 * second},{1000 - 100 * row - 50 * second}'
             for second in range(4) for row in range(3)]
    (folder / 'table.csv').write_text('\n'.join(rows) + '\n')
    series = [f'{1700000000 + second},p,{100 + second % 3},200,{700 - second % 3}' for second in range(40)]
    (folder / 'series.csv').write_text('\n'.join(rows[:1] + series) + '\n')
    (folder / 'workload').write_text('shell name=^(ba)?sh$\nroot user=^root$\n')
    (folder / 'rotated').mkdir()
    base = sqlite3.connect(folder / 'table.sqlite')
    base.execute('CREATE TABLE rows (time INTEGER, name TEXT, run_ms INTEGER, wait_ms REAL, sleep_ms INTEGER)')
    base.executemany('INSERT INTO rows VALUES (?, ?, ?, ?, ?)', [row.split(',') for row in rows[1:]])
    base.commit()
    base.close()
    for words in (('--from', 'table.csv', '--unit', 'ms', '--output', 'table.camp'),
                  ('--from', 'series.csv', '--unit', 'ms', '--output', 'series.camp'),
                  ('--from', 'table.csv', '--unit', 'ms', '--output', 'rotated/run.camp', '--rotate', '2s'),
                  ('--from', 'check', '--tier', 'schedstat', '--interval', '50ms', '--count', '2',
                   '--output', 'check.camp')):
        subprocess.run((camp, 'record', *words), cwd=folder, check=True, stdout=subprocess.DEVNULL)


def content(path, camp):
    """A file as a value that is the same in each run."""
    if path.suffix == '.camp':
        shown = subprocess.run((camp, 'top', '--from', path, '--format', 'json'), check=False,
                               capture_output=True)
        return shown.returncode, shown.stdout
    if path.suffix == '.json':
        text = path.read_text()
        return sorted(json.loads(text)) if text.endswith('}\n') else text
    return path.read_bytes()


def contents(folder, camp):
    return {path.name: content(path, camp) for path in pathlib.Path(folder).iterdir()}


def lines_beside(complaints, usual):
    """The lines on stderr that a run without a fault does not print."""
    usual = list(usual.splitlines())
    lines = []
    for line in complaints.splitlines():
        if line in usual:
            usual.remove(line)
        else:
            lines.append(line)
    return lines


def shape_of(subject, output):
    try:
        return subject.shape(output)
    except ValueError:
        return 'cannot be read'


def lines_allowed(subject, lines):
    """One, or one for each part that is missing or for each output that cannot be written. A second line about a
    recording names its second file. If memory lacks for good, a report of what was read until then lacks it, too."""
    if subject.names_each:
        return len(lines)
    is_two = '-wal holds a part' in lines[-1] or any(
        all(text in line for line in lines) for text in ('cannot write', 'memory'))
    return 2 if is_two else 1


def leaks_only_in_libraries(run):
    leaks = re.split(r'(?:Direct|Indirect) leak of', run.complaints)[1:]
    return bool(leaks) and all(
        LEAKS.search(leak) or LOADER in run.complaints and '__vasprintf_internal' in leak for leak in leaks)


def is_of_library(run):
    if any(text in run.complaints for text in OF_LIBRARIES) or leaks_only_in_libraries(run):
        return True
    crash = run.complaints.partition('torture: crash\n')[2]
    return CRASHES.search(re.split(r'/camp[\w-]*\(', crash)[0]) is not None


def fault_found(subject, usual, run, folder, camp):
    """What is wrong with a run, in words; '' if nothing is. `usual` is (run, contents) without a fault."""
    usual_run, usual_files = usual
    if is_of_library(run):
        return ''
    if run.status is None:
        return f'no end within {faults.LIMIT_S} s'
    if run.status < 0:
        return f'ended by {signal.Signals(-run.status).name}'
    if run.status == faults.LEAKED:
        return 'memory leaked'
    lines = lines_beside(run.complaints, usual_run.complaints)
    if subject.reasons is not None and run.output:
        lines += subject.reasons(run.output)
    files = contents(folder, camp)
    if any('-wal holds a part of the recording' in line for line in lines):
        # SQLite could not join the two files of the recording at its end. They are read as one.
        files = {name: value for name, value in files.items() if not name.endswith(('-wal', '-shm'))}
    if run.status == 0:
        return fault_of_success(subject, usual_run, lines, run) or fault_of_usual_files(
            subject, usual_files, files, lines)
    if run.status not in (1, 3, 4):
        return f'exit status {run.status}'
    if not lines or len(lines) > lines_allowed(subject, lines) or not all(line.startswith('camp') for line in lines):
        return f'exit status {run.status} with {len(lines)} lines'
    return fault_of_files(usual_files, files)


def fault_of_success(subject, usual, lines, run):
    if len(lines) > 1:
        return f'{len(lines)} lines, but exit status 0'
    if shape_of(subject, run.output) == shape_of(subject, usual.output):
        return ''
    return 'another result, and ' + ('exit status 0' if lines else 'no message')


def fault_of_usual_files(subject, usual_files, files, lines):
    if files == usual_files or subject.degrades and lines and files.keys() == usual_files.keys():
        return ''
    return 'other files than usual'


def is_whole(name, value):
    """A report may have the intervals before the failure, if it is whole in form. So has a recording."""
    if name.endswith('.camp'):
        return value[0] == 0
    if name.endswith('.html'):
        return value.endswith(b'</html>\n')
    if name.endswith('.svg'):
        return value.endswith(b'</svg>\n')
    return False


def fault_of_files(usual_files, files):
    for name, value in files.items():
        of_recording = re.sub('-(wal|shm)$', '', name)  # SQLite reads a recording and these files as one
        if value != usual_files.get(name) and not is_whole(of_recording, files.get(of_recording, value)):
            return f'left {name}'
    return ''
