"""What camp export answers, asked as a scraper does.

    export.py CAMP TEST [OPTIONS OF camp export]

Prints what it found; exit status 0: all is as it has to be, 77: that cannot be tested here.
"""
import collections
import gzip
import http.client
import os
import signal
import subprocess
import sys
import time

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
    from prometheus_client.parser import text_string_to_metric_families as classic
except ImportError:
    print('needs python3-prometheus-client')
    sys.exit(77)

# What Prometheus 2.42 sends, and 3 (with what it takes that is not to be had here).
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
    """A running camp export; its port is any free one."""

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
        """The answer's status, headers and body."""
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
    """{(name, labels): value}; a sample that is there twice is a fault."""
    found = {}
    for family in parser(text):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            check(key not in found, f'{key} is there twice')
            found[key] = sample.value
    return found


def sums_of(samples):
    """By state: groups with what is retired, and all threads."""
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


def test_formats(camp, *options):
    with Exporter(camp, *options) as exporter:
        for accept, wanted in ((ACCEPT_2, OPENMETRICS), (ACCEPT_3, OPENMETRICS), ('*/*', CLASSIC),
                               ('text/plain', CLASSIC), ('application/json', CLASSIC)):
            kind, text = exporter.page(accept)
            check(kind == wanted, f'{accept}: {kind}')
            check(text.endswith('# EOF\n') == (wanted == OPENMETRICS), 'the end of the page')
        new = samples_of(openmetrics, exporter.page()[1])
        old = samples_of(classic, exporter.page('text/plain')[1])
        check(set(new) == set(old), set(new) ^ set(old))
        promtool = subprocess.run(['promtool', 'check', 'metrics'], text=True, check=False,
                                  input=exporter.page('text/plain')[1], capture_output=True)
        check(promtool.returncode == 0, promtool.stdout + promtool.stderr)
        fixed = [key for key in new if 'groupname' not in dict(key[1])]
        check(80 <= len(fixed) <= 130, f'{len(fixed)} fixed series')
        check(not any('pid' in dict(key[1]) for key in new), 'a pid label')
        print(f'{len(fixed)} fixed series, {len(new) - len(fixed)} of groups')


def test_laws(camp, *options):
    with Exporter(camp, '--groups', '4', *options) as exporter:
        before = exporter.samples()
        if not any(name == 'camp_task_state_seconds_total' for name, _ in before):
            print('needs tier bpf: CAP_BPF and CAP_PERFMON')
            sys.exit(77)
        for names in (('a1', 'a2', 'a3'), ('b1', 'b2', 'b3'), ('c1', 'c2', 'c3')):
            busy = [subprocess.Popen(['/bin/bash', '-c', 'exec -a x bash -c "'
                                      f'echo {name} >/proc/self/comm; while :; do /bin/true; done"'])
                    for name in names]
            for _ in range(4):
                time.sleep(0.2)
                after = exporter.samples()
                check_sums(after)
                check_growth(before, after)
                before = after
            for child in busy:
                child.kill()
                child.wait()
        check(before[('camp_exporter_demoted_groups_total', ())] > 0, 'no group lost its place')


TESTS = {name[5:]: function for name, function in list(globals().items())
         if name.startswith('test_')}

if __name__ == '__main__':
    TESTS[sys.argv[2]](sys.argv[1], *sys.argv[3:])
    print('ok')
