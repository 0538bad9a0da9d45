"""fleet_law.py CAMP PROMETHEUS HOST...: checks that camp reports the same times for each host of a Prometheus as camp
top --from cpus in the same interval. This program runs in the network namespace of Prometheus. All hosts are
namespaces of this machine.

The witness is camp top --from cpus with short intervals. Each host is compared with the witness between two scrapes
of the host. When an interval of the witness is only partly between these scrapes, its CPU time counts as a range.
The exporter says when it read the counters. The time that the server gives a scrape may be another one: Prometheus
moves it by up to 2 ms, and VictoriaMetrics by up to a tenth of the scrape interval. Each exporter accounts the BPF
programs of the other exporters and of the witness as interrupts and system time. The kernel counts how long BPF
programs ran."""
import datetime
import json
import pathlib
import subprocess
import sys
import time
import urllib.parse
import urllib.request

UTC = datetime.timezone.utc
PARTS = 40  # of 200 ms
SCRAPE_S = 0.5  # the scrape_interval in the configuration; a single scrape may fail
STATISTICS = pathlib.Path('/proc/sys/kernel/bpf_stats_enabled')


def seconds(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def camp(*words):
    done = subprocess.run([sys.argv[1], 'top', *words, '--format', 'json'], stdout=subprocess.PIPE,
                          text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def sums(rows):
    """Returns the CPU seconds by state, and the total."""
    states = {}
    for row in rows:
        for name, ns in row['states'].items():
            name = name.removesuffix('_ns')
            states[name] = states.get(name, 0) + ns / 1e9
    return states, sum(row['elapsed_ns'] for row in rows) / 1e9


def witness_between(parts, begin, end):
    """Returns the CPU seconds of the witness between `begin` and `end`: the minimum for each state, the maximum for
    each state, [minimum, maximum] of the sum of all states, and the number of CPUs."""
    least, most, all_of = {}, {}, [0, 0]
    for part in parts:
        last = seconds(part['time'])
        first = last - part['interval_s']
        inside = max(0, min(last, end) - max(first, begin))
        outside = part['interval_s'] - inside
        if inside == 0:
            continue
        of_part, elapsed = sums(part['entities'])
        cpus = elapsed / part['interval_s']
        all_of[0] += max(0, elapsed - outside * cpus)
        all_of[1] += min(elapsed, inside * cpus)
        for name, value in of_part.items():
            least[name] = least.get(name, 0) + max(0, value - outside * cpus)
            most[name] = most.get(name, 0) + min(value, inside * cpus)
    return least, most, all_of, cpus


def samples_of(query, until):
    """Returns the samples of one series in the 20 seconds before `until`, as (time, value)."""
    body = urllib.parse.urlencode({'query': f'{query}[20s]', 'time': until})
    with urllib.request.urlopen(f'http://{sys.argv[2]}/api/v1/query', body.encode(), 10) as answer:
        return [(scraped, float(value)) for scraped, value in json.load(answer)['data']['result'][0]['values']]


def longest_run(times):
    """Returns the longest sequence of scrape times without a gap. A scrape without an answer, or a late scrape, leaves
    a gap between two samples. camp bridges a gap of one scrape. In a longer gap camp accounts no time, because nothing
    was measured there."""
    runs = [[]]
    for scraped in times:
        if runs[-1] and scraped - runs[-1][-1] > 2 * SCRAPE_S:
            print(f'gap of {scraped - runs[-1][-1]:.3f} s')
            runs.append([])
        runs[-1].append(scraped)
    return max(runs, key=lambda run: run[-1] - run[0] if run else 0)


def programs_s():
    """Returns how long all BPF programs of the machine have run so far, in seconds."""
    ran = {}
    for info in pathlib.Path('/proc').glob('[0-9]*/fdinfo/*'):
        try:
            facts = dict(line.split(':', 1) for line in info.read_text().splitlines() if ':' in line)
        except OSError:
            continue  # the process has ended, or closed the file
        if 'prog_id' in facts:
            # A link has the id of its program, too, but no run time.
            ran[facts['prog_id']] = max(ran.get(facts['prog_id'], 0), int(facts.get('run_time_ns', 0)) / 1e9)
    return sum(ran.values())


def iso(seconds_since_1970):
    return datetime.datetime.fromtimestamp(seconds_since_1970, UTC).isoformat().replace('+00:00', 'Z')


def check(host, parts, begin, end, probes):
    # A failed scrape has no sample of this series.
    answered = [scraped for scraped, _ in samples_of(f'camp_cpus{{instance="{host}"}}', end + 1)]
    took = dict(samples_of(f'scrape_duration_seconds{{instance="{host}"}}', end + 1))
    clock = time.time() - time.monotonic()
    read_at = {scraped: clock + read_s
               for scraped, read_s in samples_of(f'camp_clock_seconds_total{{instance="{host}"}}', end + 1)}
    run = longest_run([scraped for scraped in answered if begin < read_at[scraped] < end])
    assert len(run) > 1, f'{host}: no two scrapes in a row had an answer'
    first, last, first_s, last_s = run[0], run[-1], took[run[0]], took[run[-1]]
    frames = camp('--from', f'prometheus:{sys.argv[2]}', '--query', f'{{instance="{host}"}}',
                  '--begin', iso(first), '--end', iso(last))
    reported, elapsed = sums([row for frame in frames for row in frame['entities']])
    least, most, whole, cpus = witness_between(parts, read_at[first], read_at[last])
    late = (first_s + last_s) * cpus
    print(host, f'{last - first:.3f} s, {len(run)} of {len(took)} scrapes', elapsed, whole, f'scrapes {late:.4f} s, probes {probes:.4f} s',
          {name: (round(reported[name], 4), round(least[name], 4), round(most[name], 4)) for name in least})
    assert whole[0] - late <= elapsed <= whole[1] + late
    for name in least:
        assert least[name] - late - probes <= reported[name] <= most[name] + late + probes, name
    # The states add up to the clock of the exporter, which the exporter reads separately in the same scrape.
    off = sum(row['unaccounted_ns'] for frame in frames for row in frame['entities'])
    assert abs(off) / 1e9 <= late, off


def main():
    statistics = STATISTICS.read_text()
    STATISTICS.write_text('1')
    try:
        before = programs_s()
        parts = camp('--from', 'cpus', '--interval', '200ms', '--count', str(PARTS))
        # The BPF programs of the witness are unloaded by now. They ran about as long as the BPF programs of one host.
        probes = (programs_s() - before) * len(sys.argv[2:]) / len(sys.argv[3:])
    finally:
        STATISTICS.write_text(statistics)
    begin, end = seconds(parts[0]['time']), seconds(parts[-1]['time'])
    for host in sys.argv[3:]:
        check(host, parts, begin, end, probes)


main()
