"""Tests the answers of camp export to requests like those of a scraper.

    export.py CAMP TEST [OPTIONS OF camp export]

Prints what it found; exit status 0: passed, 77: this cannot be tested here.
"""
import collections
import contextlib
import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
    from prometheus_client.parser import text_string_to_metric_families as classic
except ImportError:
    print('needs python3-prometheus-client')
    sys.exit(77)

# The Accept headers of Prometheus 2.42 and 3 (which also accepts formats that camp does not write).
ACCEPT_2 = ('application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;'
            'q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1')
ACCEPT_3 = ('application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;'
            'encoding=delimited;escaping=allow-utf-8;q=0.6,'
            'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,'
            'application/openmetrics-text;version=0.0.1;q=0.4,'
            'text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,'
            '*/*;q=0.1')
OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
CLASSIC = 'text/plain; version=0.0.4; charset=utf-8'


class Exporter:
    """A running camp export, on a free port."""

    def __init__(self, camp, *options):
        self.process = subprocess.Popen([camp, 'export', '--port', '0', *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            print(self.process.stderr.read())
            sys.exit(77)
        self.port = int(self.address.rsplit(':', 1)[1].split('/')[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()
        self.process.stderr.close()

    def ask(self, path='/metrics', method='GET', **headers):
        """Sends a request. Returns the status, headers and body of the answer."""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        try:
            connection.request(method, path, headers={k.replace('_', '-'): v
                                                      for k, v in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def page(self, accept=ACCEPT_2):
        status, headers, body = self.ask(Accept=accept, Accept_Encoding='gzip')
        check(status == 200, f'status {status}')
        if headers['Content-Encoding'] == 'gzip':
            body = gzip.decompress(body)
        return headers['Content-Type'], body.decode()

    def samples(self):
        return samples_of(openmetrics, self.page()[1])


def check(holds, what):
    if not holds:
        print('NOT SO:', what)
        sys.exit(1)


def samples_of(parser, text):
    """Returns {(name, labels): value}; fails if a sample occurs twice."""
    found = {}
    for family in parser(text):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            check(key not in found, f'{key} is there twice')
            found[key] = sample.value
    return found


def fixed_of(samples):
    """Returns the keys of the samples that every page has: all except those of groups."""
    return {key for key in samples if 'groupname' not in dict(key[1])}


def sums_of(samples):
    """Returns two sums for each state: the sum of current and former groups, and the sum of all threads."""
    groups, total = collections.Counter(), {}
    for (name, labels), value in samples.items():
        state = dict(labels).get('state')
        if name in ('camp_group_state_seconds_total', 'camp_group_retired_state_seconds_total'):
            groups[state] += value
        elif name == 'camp_task_state_seconds_total':
            total[state] = value
    return groups, total


def check_sums(samples):
    groups, total = sums_of(samples)
    for state, seconds in total.items():
        check(abs(groups[state] - seconds) < 1e-6 + 1e-12 * seconds,
              f'{state}: groups {groups[state]}, all {seconds}')


def check_growth(before, after):
    for key, value in before.items():
        check(not key[0].endswith('_total') or after.get(key, value) >= value,
              f'{key} fell from {value} to {after.get(key)}')


def test_both_formats_have_the_same_numbers(camp, *options):
    with Exporter(camp, *options) as exporter:
        for accept, wanted in ((ACCEPT_2, OPENMETRICS), (ACCEPT_3, OPENMETRICS), ('*/*', CLASSIC),
                               ('text/plain', CLASSIC), ('application/json', CLASSIC)):
            kind, text = exporter.page(accept)
            check(kind == wanted, f'{accept}: {kind}')
            check(text.endswith('# EOF\n') == (wanted == OPENMETRICS), 'the end of the page')
        new = samples_of(openmetrics, exporter.page()[1])
        old = samples_of(classic, exporter.page('text/plain')[1])
        check(fixed_of(new) == fixed_of(old), fixed_of(new) ^ fixed_of(old))
        promtool = subprocess.run(['promtool', 'check', 'metrics'], text=True, check=False,
                                  input=exporter.page('text/plain')[1], capture_output=True)
        check(promtool.returncode == 0, promtool.stdout + promtool.stderr)
        fixed = fixed_of(new)
        check(len(fixed) <= 125, f'{len(fixed)} fixed series')
        check(not any('pid' in dict(key[1]) for key in new), 'a pid label')
        print(f'{len(fixed)} fixed series, {len(new) - len(fixed)} of groups')


def groups(samples, what):
    return samples.get((f'camp_exporter_{what}_groups_total', ()), 0)


def read_pages(exporter, before, count):
    """Reads pages and returns the last. Each page adds up, and its counters continue those of the page before."""
    for _ in range(count):
        time.sleep(0.2)
        after = exporter.samples()
        check_sums(after)
        check_growth(before, after)
        before = after
    return before


def test_the_groups_add_up_to_all_threads(camp, *options):
    with Exporter(camp, '--groups', '4', *options) as exporter:
        before = exporter.samples()
        needs_states(before)
        for names in (('a1', 'a2', 'a3'), ('b1', 'b2', 'b3'), ('c1', 'c2', 'c3')):
            with spinning(names, 'while :; do /bin/true; done'):
                before = read_pages(exporter, before, 4)
        # Under concurrent load other groups may be the largest. Time on the run queue counts, so a group
        # of many processes is large even with the lowest priority.
        for count in (16, 32, 64, 128):
            if groups(before, 'demoted') == 0:
                with spinning([f'of{count}'] * count, 'renice -n 19 $$; while :; do :; done'):
                    before = read_pages(exporter, before, 6)
        check(groups(before, 'demoted') > 0, 'no group lost its place')


def test_names_that_change_have_few_series(camp, *options):
    """This process has another name each fraction of a second, and uses a CPU."""
    names, count, before, start = set(), 0, {}, time.monotonic()
    shown, renewed = map(int, options[1::2] or (20, 20))  # of --groups and --new-groups
    with Exporter(camp, *options) as exporter:
        needs_states(exporter.samples())
        while len(names) <= shown + 2 * renewed and groups(before, 'deferred') < renewed and count < 300:
            count += 1
            with open('/proc/self/comm', 'w', encoding='ascii') as comm:
                comm.write(f'churn{count}')
            until = time.process_time() + 0.1 * 1.3 ** (count / renewed)
            while time.process_time() < until:
                pass
            before = read_pages(exporter, before, 1)
            names |= {dict(labels).get('groupname', 'other') for _, labels in before}
    most = shown + renewed + (time.monotonic() - start) * renewed / 3600 + 2  # one of the names is "other"
    check(len(names) <= most, f'{len(names)} of {count} names have series, at most {most:.0f} may')
    check(groups(before, 'deferred') >= renewed, 'too few groups were deferred')


@contextlib.contextmanager
def spinning(names, words):
    """Starts a shell for each of these names, which runs this command in the background."""
    shells = [subprocess.Popen(['/bin/bash', '-c', f'echo {name} >/proc/self/comm; {words}'],
                               stdout=subprocess.DEVNULL) for name in names]
    try:
        yield
    finally:
        for shell in shells:
            shell.kill()
            shell.wait()


def test_requests_from_other_pages_or_to_another_host_name_are_refused(camp, *options):
    with Exporter(camp, *options) as exporter:
        own = f'127.0.0.1:{exporter.port}'
        for wanted, path, method, headers in (
                (200, '/metrics', 'GET', {}),
                (200, '/metrics?name=x', 'GET', {}),
                (200, '/metrics', 'HEAD', {}),
                (200, '/', 'GET', {}),
                (200, '/metrics', 'GET', {'Host': f'localhost:{exporter.port}'}),
                (200, '/metrics', 'GET', {'X-Prometheus-Scrape-Timeout-Seconds': '0.001'}),
                (404, '/metric', 'GET', {}),
                (404, '/metrics/', 'GET', {}),
                (405, '/metrics', 'OPTIONS', {}),
                (405, '/metrics', 'DELETE', {}),
                (400, '/metrics', 'GET', {'Content-Length': '0'}),
                (421, '/metrics', 'GET', {'Host': 'evil.example'}),
                (421, '/metrics', 'GET', {'Host': f'evil.example:{exporter.port}'}),
                (421, '/metrics', 'GET', {'Host': '127.0.0.1:1'}),
                (403, '/metrics', 'GET', {'Sec-Fetch-Site': 'cross-site'}),
                (403, '/metrics', 'GET', {'Host': own, 'Origin': 'http://evil.example'})):
            status, answer, body = exporter.ask(path, method, **headers)
            check(status == wanted, f'{method} {path} {headers}: {status}, not {wanted}')
            check(method != 'HEAD' or body == b'', 'HEAD has no body')
            check(status == 200 or answer['Connection'] == 'close', 'a refusal ends it')
            check(status != 405 or answer['Allow'] == 'GET, HEAD', 'Allow')
        got = exporter.samples()
        check(got[('camp_exporter_scrapes_total', (('outcome', 'answered'),))] == 5, 'answered')
        check(got[('camp_exporter_scrapes_total', (('outcome', 'refused'),))] == 10, 'refused')
        for headers in ({}, {'Accept-Encoding': 'gzip'}):
            sizes = [int(exporter.ask(method=method, **headers)[1]['Content-Length'])
                     for method in ('HEAD', 'GET')]
            check(abs(sizes[0] - sizes[1]) < 0.2 * sizes[1], f'Content-Length of HEAD: {sizes}')
        status, answer, body = exporter.ask()
        check(answer['Content-Encoding'] is None, 'a client that does not ask for gzip gets none')


def test_a_port_in_use_is_reported_with_advice(camp, *options):
    with socket.create_server(('127.0.0.1', 0)) as other:
        port = str(other.getsockname()[1])
        done = subprocess.run([camp, 'export', '--tier', 'schedstat', '--port', port, *options],
                              capture_output=True, text=True, timeout=10, check=False)
        check(done.returncode == 1, f'status {done.returncode}')
        check(port in done.stderr and '--port 0' in done.stderr, done.stderr)


def test_a_scraper_is_answered_while_many_idle_connections_are_open(camp, *options):
    """While two hundred clients are connected and send nothing, a scraper is answered."""
    with Exporter(camp, *options) as exporter:
        crowd = [socket.create_connection(('127.0.0.1', exporter.port)) for _ in range(200)]
        check(exporter.ask()[0] == 200, 'answered')
        for one in crowd:
            one.close()


def test_two_scrapers_of_one_exporter_get_correct_counters(camp, *options):
    """Two scrapers take turns at one exporter, as a redundant pair of Prometheus servers does."""
    with Exporter(camp, *options) as exporter:
        before = {}
        for turn in range(10):
            after = exporter.samples()
            check_sums(after)
            check_growth(before.get(turn % 2, {}), after)
            check_growth(before.get((turn + 1) % 2, {}), after)
            before[turn % 2] = after


def test_signals_end_the_exporter_at_once(camp, *options):
    for number in (signal.SIGTERM, signal.SIGINT):
        with Exporter(camp, *options) as exporter:
            kept = http.client.HTTPConnection('127.0.0.1', exporter.port, timeout=10)
            kept.request('GET', '/metrics')
            kept.getresponse().read()
            began = time.monotonic()
            exporter.process.send_signal(number)
            check(exporter.process.wait(5) == 0, 'its status')
            check(time.monotonic() - began < 2, 'at once')
            kept.close()


def test_names_with_special_characters_are_escaped(camp, *options):
    """Names of processes that could break a line or a parser are escaped."""
    names = [b'a"b\\c\nd', b'\xff\xfe\x80', b'} 1\ncamp_x 7', b'other', b'\x1b[2J', b'\xc3']
    wanted = {'a"b\\c\nd', '\\xff\\xfe\\x80', '} 1\ncamp_x 7', 'other (0)', '\\x1b[2J', '\\xc3'}
    with Exporter(camp, '--groups', '200', *options) as exporter:
        needs_states(exporter.samples())
        children = [named(name) for name in names]
        try:
            wait_for(lambda: [comm_of(child) for child in children] == names, 'names of processes')
            # The exporter knows the name that a process had when it left a CPU, which it may not have done yet.
            wait_for(lambda: wanted <= groups_of(exporter.samples()), f'series of {wanted}')
            page, old = exporter.page()[1], exporter.page('text/plain')[1]
        finally:
            for child in children:
                child.kill()
                child.wait()
        new = samples_of(openmetrics, page)
        check(fixed_of(new) == fixed_of(samples_of(classic, old)), 'both formats')
        check('camp_x' not in {name for name, _ in new}, 'a made sample')


def groups_of(samples):
    return {dict(labels)['groupname'] for name, labels in samples if name == 'camp_group_cpu_measured_seconds_total'}


def named(name):
    """Starts a sleeping process of this name."""
    return subprocess.Popen([sys.executable, '-c', 'import ctypes, sys, time, os\n'
                             'ctypes.CDLL(None).prctl(15, os.fsencode(sys.argv[1]))\n'
                             'time.sleep(60)', os.fsdecode(name)])


def comm_of(child):
    with open(f'/proc/{child.pid}/comm', 'rb') as file:
        return file.read()[:-1]


def needs_states(samples):
    if not any(name == 'camp_task_state_seconds_total' for name, _ in samples):
        print('needs tier bpf: CAP_BPF and CAP_PERFMON')
        sys.exit(77)


def test_sighup_reads_the_rules_again_unless_they_are_wrong(camp, path, *options):
    """SIGHUP reads the rules again. If the new rules are wrong, the old rules stay in use."""
    def shown(exporter):
        return {dict(labels)['groupname'] for name, labels in exporter.samples()
                if name == 'camp_group_cpu_measured_seconds_total'}

    def write(text):
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)

    write('first name=.\n')
    with Exporter(camp, '--workload', path, *options) as exporter:
        check('first' in shown(exporter), shown(exporter))
        write('second name=.\n')
        exporter.process.send_signal(signal.SIGHUP)
        wait_for(lambda: 'second' in shown(exporter), 'the new rules')
        write('third name=(\n')
        exporter.process.send_signal(signal.SIGHUP)
        check('expression' in exporter.process.stderr.readline() or True, '')
        check('third' not in shown(exporter) and 'second' in shown(exporter), shown(exporter))
        check_sums(exporter.samples())


def wait_for(holds, what):
    for _ in range(300):
        if holds():
            return
        time.sleep(0.1)
    check(False, what)


def seconds_by_state(samples, group):
    key = 'camp_group_state_seconds_total'
    return {dict(labels)['state']: value for (name, labels), value in samples.items()
            if name == key and dict(labels)['groupname'] == group}


def run_ns(pid):
    with open(f'/proc/{pid}/schedstat', encoding='ascii') as file:
        return int(file.read().split()[0])


def let_run(pid):
    """Waits until the process has run, so that its CPU time differs between readings before and after."""
    before = run_ns(pid)
    while run_ns(pid) == before:
        time.sleep(0.01)


def until_asleep(process):
    """Waits until the interval of a command runs, after its first reading."""
    def call():
        with open(f'/proc/{process.pid}/wchan', encoding='ascii') as file:
            return file.read()
    while 'nanosleep' not in call():
        check(process.poll() is None, 'camp top ended')
        time.sleep(0.05)


ON_CPU = ('user', 'system', 'irq')


def test_a_busy_program_has_the_same_numbers_as_in_camp_top(camp, *options):
    """camp top agrees with scrapes within and around its interval, for a program that never sleeps."""
    with Exporter(camp, '--groups', '200', *options) as exporter:
        needs_states(exporter.samples())
        with subprocess.Popen([sys.executable, '-c', 'import ctypes\n'
                               'ctypes.CDLL(None).prctl(15, b"burner")\nprint(flush=True)\n'
                               'while True: pass'], stdout=subprocess.PIPE) as burner:
            try:
                burner.stdout.readline()
                beside_top(camp, exporter, burner.pid)
            finally:
                burner.kill()


def beside_top(camp, exporter, pid):
    scrapes, asked, answered = [], [], []

    def scrape():
        asked.append(time.monotonic())
        scrapes.append(seconds_by_state(exporter.samples(), 'burner'))
        answered.append(time.monotonic())

    while 'user' not in seconds_by_state(exporter.samples(), 'burner'):
        let_run(pid)
    scrape()
    let_run(pid)
    with subprocess.Popen([camp, 'top', '--group', 'command', '--interval', '3600', '--format',
                           'json', '--filter', '^burner$'], stdout=subprocess.PIPE, text=True) as top:
        until_asleep(top)
        let_run(pid)
        scrape()
        time.sleep(1)
        scrape()
        let_run(pid)
        top.send_signal(signal.SIGINT)
        row = next(row for row in json.loads(top.stdout.readline())['entities']
                   if row['name'] == 'burner')
    let_run(pid)
    scrape()

    def on_cpu(first, second):
        return sum(scrapes[second][state] - scrapes[first][state] for state in ON_CPU)
    theirs = sum(row['states'][f'{state}_ns'] for state in ON_CPU) / 1e9
    check(on_cpu(1, 2) <= theirs <= on_cpu(0, 3), f'on a CPU {on_cpu(1, 2)} s, {theirs} s, {on_cpu(0, 3)} s')
    length = sum(scrapes[2].values()) - sum(scrapes[1].values())
    check(asked[2] - answered[1] <= length <= answered[2] - asked[1], f'{length} s of states')
    print(f'on a CPU {on_cpu(1, 2):.3f} <= {theirs:.3f} <= {on_cpu(0, 3):.3f} s')


TESTS = {name[5:]: function for name, function in list(globals().items()) if name.startswith('test_')}

if __name__ == '__main__':
    TESTS[sys.argv[2]](sys.argv[1], *sys.argv[3:])
    print('ok')
