"""fleet_law.py CAMP PROMETHEUS HOST...: is what camp says of each host by Prometheus what camp top
--from cpus says of the same interval? To be run where the server is, while all hosts are this machine.

The witness's intervals are short. Each host is held against it between two of its own scrapes, so that
neither is guessed: in between a counter grows evenly to the one, and by 0.2 s to the other."""
import datetime
import json
import subprocess
import sys
import urllib.parse
import urllib.request

UTC = datetime.timezone.utc
PARTS = 40  # of 200 ms
WITHIN = 0.01


def seconds(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def camp(*words):
    done = subprocess.run([sys.argv[1], 'top', *words, '--format', 'json'], stdout=subprocess.PIPE,
                          text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def sums(rows):
    """CPU seconds by state, and of all."""
    states = {}
    for row in rows:
        for name, ns in row['states'].items():
            states[name] = states.get(name, 0) + ns / 1e9
    return states, sum(row['elapsed_ns'] for row in rows) / 1e9


def witness_between(parts, begin, end):
    """Of the witness's intervals those parts that lie between."""
    states, elapsed = {}, 0
    for part in parts:
        last = seconds(part['time'])
        first = last - part['interval_s']
        share = max(0, min(last, end) - max(first, begin)) / part['interval_s']
        of_part, of_all = sums(part['entities'])
        elapsed += share * of_all
        for name, value in of_part.items():
            states[name] = states.get(name, 0) + share * value
    return states, elapsed


def scrapes_of(host, until):
    """The times of a host's samples."""
    body = urllib.parse.urlencode({'query': f'camp_cpus{{instance="{host}"}}[20s]', 'time': until})
    with urllib.request.urlopen(f'http://{sys.argv[2]}/api/v1/query', body.encode(), 10) as answer:
        return [time for time, _ in json.load(answer)['data']['result'][0]['values']]


def iso(time):
    return datetime.datetime.fromtimestamp(time, UTC).isoformat().replace('+00:00', 'Z')


def main():
    parts = camp('--from', 'cpus', '--interval', '200ms', '--count', str(PARTS))
    begin, end = seconds(parts[0]['time']), seconds(parts[-1]['time'])
    for host in sys.argv[3:]:
        times = [time for time in scrapes_of(host, end + 1) if begin < time < end]
        frames = camp('--from', f'prometheus:{sys.argv[2]}', '--query', f'{{instance="{host}"}}',
                      '--begin', iso(times[0]), '--end', iso(times[-1]))
        told, elapsed = sums([row for frame in frames for row in frame['entities']])
        truth, whole = witness_between(parts, times[0], times[-1])
        print(host, f'{times[-1] - times[0]:.3f} s', elapsed, whole,
              {name: (told[name] / elapsed, truth[name] / whole) for name in truth})
        assert abs(elapsed / whole - 1) < WITHIN
        for name in truth:
            assert abs(told[name] / elapsed - truth[name] / whole) < WITHIN, name
        # The modes add up to the exporter's clock, which is another witness.
        off = sum(row['unaccounted_ns'] for frame in frames for row in frame['entities'])
        assert abs(off) / 1e9 < 0.001 * elapsed, off


main()
