"""Tests the lengths and the causes of waits on the pages of camp export --why.

    export_why.py CAMP TEST [OPTIONS OF camp export]

Prints what it found; exit status 0: passed, 77: this cannot be tested here.
"""
import collections
import contextlib
import os
import subprocess
import sys
import time

from export import Exporter, check, classic, comm_of, openmetrics, samples_of, wait_for

WAITS = {'run_queue', 'throttled', 'text_fault', 'data_fault', 'kernel_fault', 'lock', 'disk', 'poll', 'socket',
         'pipe', 'timer', 'child', 'other_sleep', 'stopped'}
PLACES, CAUSES, BUCKETS = 150, 1000, 15  # of src/metrics/wait_sums.h
NAMES = 53  # that the ledger tells apart
ROUNDING = 1e-6


def values(samples, name):
    """Returns {labels: value} of a metric; the labels are a dictionary as a tuple of pairs."""
    return {labels: value for (metric, labels), value in samples.items() if metric == name}


def by_state(samples, name, **wanted):
    sums = collections.Counter()
    for labels, value in values(samples, name).items():
        of = dict(labels)
        if all(of[key] == wanted[key] for key in wanted):
            sums[of['state']] += value
    return sums


def check_histograms(samples):
    counts = values(samples, 'camp_wait_seconds_count')
    buckets = collections.defaultdict(list)
    for labels, value in values(samples, 'camp_wait_seconds_bucket').items():
        of = dict(labels)
        buckets[tuple(sorted((key, of[key]) for key in of if key != 'le'))].append((float(of['le']), value))
    check(set(buckets) == set(counts), 'each count has buckets')
    for labels, found in buckets.items():
        found.sort()
        check(len(found) == BUCKETS and found[-1][0] == float('inf'), f'{labels}: buckets {found}')
        check([value for _, value in found] == sorted(value for _, value in found), f'{labels}: {found}')
        check(found[-1][1] == counts[labels], f'{labels}: {found[-1][1]} waits of {counts[labels]}')


def check_page(samples):
    """The causes of each state add up to the state, and each histogram to its count."""
    total = by_state(samples, 'camp_task_state_seconds_total')
    causes = by_state(samples, 'camp_wait_cause_seconds_total')
    for state in WAITS & set(total):
        check(abs(causes[state] - total[state]) < ROUNDING + 1e-12 * total[state],
              f'{state}: causes {causes[state]}, time {total[state]}')
    check_histograms(samples)
    series = collections.Counter(name for name, _ in samples if name.startswith('camp_wait_'))
    places, causes = series['camp_wait_seconds_count'], series['camp_wait_cause_seconds_total']
    check(places <= PLACES + len(WAITS) and causes <= CAUSES + len(WAITS), series)
    print(f'{places} histograms, {causes} causes, {sum(series.values())} series')


def check_growth(before, after):
    for key, value in before.items():
        if key[0].endswith(('_total', '_count', '_sum', '_bucket')) and key[0].startswith('camp_wait_'):
            check(key in after, f'{key} is no longer there')
            check(after[key] >= value, f'{key} fell from {value} to {after[key]}')


@contextlib.contextmanager
def napping(name, seconds):
    """Runs a process of this name that only sleeps for so long again and again."""
    with subprocess.Popen([sys.executable, '-c', 'import ctypes, os, sys, time\n'
                           'ctypes.CDLL(None).prctl(15, os.fsencode(sys.argv[1]))\n'
                           'print(flush=True)\n'
                           'while True: time.sleep(float(sys.argv[2]))', os.fsdecode(name), str(seconds)],
                          stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def open_exporter(camp, *options):
    """An exporter, which must be started before the processes whose names it must tell apart."""
    return Exporter(camp, '--why', *options)


def is_full(samples):
    """Whether the ledger has no more names for processes, as on a machine with many."""
    names = {dict(labels).get('groupname') for labels in values(samples, 'camp_wait_cause_seconds_total')}
    names |= {dict(labels).get('who') for labels in values(samples, 'camp_wait_cause_seconds_total')}
    return len(names) >= NAMES


def test_causes_add_up_to_the_states_and_no_counter_falls(camp, *options):
    with open_exporter(camp, *options) as exporter:
        before = exporter.samples()
        for turn in range(8):
            with napping(f'turn{turn}', 0.01):
                time.sleep(0.3)
                after = exporter.samples()
            check_page(after)
            check_growth(before, after)
            before = after


def test_both_formats_have_the_same_series(camp, *options):
    with open_exporter(camp, *options) as exporter:
        time.sleep(0.3)
        exporter.samples()
        new, old = exporter.samples(), samples_of(classic, exporter.page('text/plain')[1])
        missing = {key for key in new if key[0].startswith('camp_wait_')} - set(old)
        check(not missing, missing)
        promtool = subprocess.run(['promtool', 'check', 'metrics'], text=True, check=False,
                                  input=exporter.page('text/plain')[1], capture_output=True)
        check(promtool.returncode == 0, promtool.stdout + promtool.stderr)


def quantile_bounds(samples, group, state, share):
    """Returns the bounds of the bucket with this quantile, in seconds."""
    buckets = sorted((float(dict(labels)['le']), value)
                     for labels, value in values(samples, 'camp_wait_seconds_bucket').items()
                     if dict(labels)['groupname'] == group and dict(labels)['state'] == state)
    below = 0
    for bound, value in buckets:
        if buckets and value >= share * buckets[-1][1]:
            return below, bound
        below = bound
    return 0, 0


def test_a_sleep_of_100_ms_has_its_length_and_its_cause(camp, *options):
    with open_exporter(camp, *options) as exporter, napping('naps100', 0.1) as process:
        for _ in range(30):
            time.sleep(0.4)
            began = time.monotonic()
            samples = exporter.samples()
            scrape = time.monotonic() - began
            if any(dict(labels)['groupname'] == 'naps100' and value >= 10
                   for labels, value in values(samples, 'camp_wait_seconds_count').items()):
                break
            if is_full(samples):
                print('the ledger is full')
                sys.exit(77)
        check(process.poll() is None, 'it naps')
        below, bound = quantile_bounds(samples, 'naps100', 'timer', 0.9)
        check(below < 0.1 < bound, f'90 % of the naps are between {below} and {bound} s')
        rest = by_state(samples, 'camp_wait_cause_seconds_total', groupname='naps100', cause='not_ended')['timer']
        timer = by_state(samples, 'camp_wait_cause_seconds_total', groupname='naps100', cause='timer')['timer']
        # On a busy machine, an interrupt within a program of the ledger has no event: its nap's cause is unknown.
        causes = by_state(samples, 'camp_wait_cause_seconds_total', groupname='naps100')['timer']
        time_ended = by_state(samples, 'camp_wait_seconds_sum', groupname='naps100')['timer']
        longest = by_state(samples, 'camp_wait_longest_seconds', groupname='naps100')['timer']
        naps = by_state(samples, 'camp_wait_seconds_count', groupname='naps100')['timer']
        print(f'{naps:.0f} naps of {time_ended:.3f} s, by a timer {timer:.3f} s, by all causes {causes:.3f} s, of which '
              f'{rest:.3f} not ended when they were read; the longest {longest:.6f} s')
        check(timer >= 0.5 * time_ended and longest >= 0.1, 'a timer ended them')
        # The causes are all of its time in this state, of which the nap that goes on has not ended. They are read after
        # the lengths, in the same scrape.
        check(time_ended <= causes + ROUNDING, 'the naps that ended have more time than all')
        check(causes <= time_ended + longest + 0.1 + scrape, 'more time than the naps had')
        check(time_ended >= 0.1 * naps, 'each nap is at least as long as it asked for')


def test_names_of_waits_are_escaped_and_different(camp, *options):
    names = [b'a"b\\c\nd', b'\xff\xfe\x80', b'} 1\ncamp_x 7', b'other', b'other (5)', b'kernel threads', b'\x1b[2J']
    with open_exporter(camp, *options) as exporter, contextlib.ExitStack() as stack:
        children = [stack.enter_context(napping(name, 0.02)) for name in names]
        wait_for(lambda: [comm_of(child) for child in children] == names, 'names of processes')
        wanted = {'a"b\\c\nd', '\\xff\\xfe\\x80', '} 1\ncamp_x 7', '\\x1b[2J'}
        for _ in range(300):
            samples = exporter.samples()  # which fails if a series is there twice
            groups = {dict(labels)['groupname'] for labels in values(samples, 'camp_wait_seconds_count')}
            more = [name for name in groups if name.startswith(('other (', 'kernel threads ('))]
            if is_full(samples) or (wanted <= groups and len(more) == 3):
                break
            time.sleep(0.1)
        check('camp_x' not in {name for name, _ in samples}, 'a made sample')
        check(wanted <= groups or is_full(samples), f'{groups} lacks {wanted - groups}')
        check(len(more) == 3 or is_full(samples), f'{more} of three processes')
        check_page(samples)


def test_names_that_proc_hides_are_not_in_the_waits(camp, *options):
    with open_exporter(camp, '--groups', '0', *options) as exporter, napping('secret', 0.01):
        time.sleep(0.5)
        samples = exporter.samples()
        names = {dict(labels).get('groupname', '') for _, labels in samples}
        names |= {dict(labels)['who'] for labels in values(samples, 'camp_wait_cause_seconds_total')
                  if dict(labels)['cause'] != 'device'}
        check(names <= {'', 'other', 'kernel threads', 'outside of this container'}, names)
        check_page(samples)


TESTS = {name[5:]: function for name, function in list(globals().items())
         if name.startswith('test_')}

if __name__ == '__main__':
    TESTS[sys.argv[2]](sys.argv[1], *sys.argv[3:])
    print('ok')
