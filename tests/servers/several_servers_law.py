"""Laws of several servers at once (several_servers.bats). Each file has what camp top --format json
prints of a recording, an interval a line.

  sums SESSIONS SERVERS      the row of each server is the sum of its sessions, to the nanosecond
  alone ALL ALONE SERVER     the times of SERVER in ALL are those in ALONE, where camp watched only this
                             server at the same time, within 1 % of its sessions' time
"""

import collections
import datetime
import json
import sys


def frames_of(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file]


def sums_of(rows):
    """Adds up all numbers of the rows of each server."""
    sums = collections.defaultdict(collections.Counter)
    for row in rows:
        of_server = sums[row['labels']['server']]
        of_server['count'] += row['count']
        of_server['elapsed_ns'] += row['elapsed_ns']
        of_server.update(row['states'])
        of_server.update(row['counters'])
    return {server: {name: n for name, n in of.items() if n != 0} for server, of in sums.items()}


def check_sums(sessions_path, servers_path):
    sessions, servers = frames_of(sessions_path), frames_of(servers_path)
    assert sessions and len(sessions) == len(servers), (len(sessions), len(servers))
    seen = set()
    for of_sessions, of_servers in zip(sessions, servers):
        rows = of_servers['entities']
        assert len({row['labels']['server'] for row in rows}) == len(rows), rows
        assert sums_of(of_sessions['entities']) == sums_of(rows), of_servers['time']
        seen |= {row['name'] for row in rows}
    print(f'{len(sessions)} intervals of {len(seen)} servers')


def end_of(frame):
    return datetime.datetime.fromisoformat(frame['time']).timestamp()


class Times:
    """The times of one server's sessions, which are spread evenly over each interval."""

    def __init__(self, frames, server):
        self.parts = []
        self.skew = 0
        for frame in frames:
            end, length = end_of(frame), frame['interval_s']
            # Each camp leaves out its own session, and sees that of the other.
            rows = [row for row in frame['entities']
                    if row['labels']['user'] != 'camp' and (server is None or row['labels']['server'] == server)]
            times = collections.Counter()
            for row in rows:
                times.update(row['states'])
                times['elapsed_ns'] += row['elapsed_ns']
                self.skew = max(self.skew, abs(row['elapsed_ns'] / 1e9 - length) * len(rows))
            self.parts.append((end - length, end, times))

    def between(self, start, end):
        """Returns the times in seconds, and how uncertain they are at the two ends."""
        total, uncertain = collections.Counter(), 0
        for begin, until, times in self.parts:
            share = max(0, min(end, until) - max(start, begin)) / (until - begin)
            uncertain += min(share, 1 - share) * times['elapsed_ns'] / 1e9
            for name, ns in times.items():
                total[name] += share * ns / 1e9
        return total, uncertain + 2 * self.skew


def check_alone(all_path, alone_path, server):
    of_all, alone = Times(frames_of(all_path), server), Times(frames_of(alone_path), None)
    start = max(of_all.parts[0][0], alone.parts[0][0])
    end = min(of_all.parts[-1][1], alone.parts[-1][1])
    here, uncertain_here = of_all.between(start, end)
    there, uncertain_there = alone.between(start, end)
    limit = 0.01 * there['elapsed_ns'] + uncertain_here + uncertain_there
    print(f'{end - start:.2f} s, limit {limit:.3f} s')
    assert end - start > 1 and there['elapsed_ns'] > 1
    for name in sorted(set(here) | set(there)):
        print(f'{name:24} {here[name]:9.3f} {there[name]:9.3f}')
        assert abs(here[name] - there[name]) <= limit, name


if sys.argv[1] == 'sums':
    check_sums(*sys.argv[2:])
else:
    check_alone(*sys.argv[2:])
