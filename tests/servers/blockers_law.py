"""blockers_law.py CAMP SAMPLER CONNINFO SECONDS NAMES TIER...: who blocks whom, by camp on each tier and by SAMPLER
(blocker_sampler.c) at 200 Hz, all in the same interval. NAMES is PID=NAME,...: those that waited are added up by name,
without a number at its end. Prints a table: seconds that sessions waited in each second, for each pair. Fails if a pair
differs by more than 5 % of the waiters' time for all, and 4 standard errors of the samples of both, or 10 ms a second.

The witness has its own rule for several blockers: those that wait for no other of them have equal parts. The tier SQL
counts what the database calls waiting, so it is compared with all samples; the others with those asleep.

On the tier bpf a wait is of the session that ended it, so in a queue the whole wait is of the last one that had the
lock. The end of the chain of waits is known of each moment, so roots are compared there.
"""
import collections
import json
import math
import subprocess
import sys
import tempfile

PERCENT, ERRORS, HZ = 5, 4, 200
LEAST_S = 0.01  # in each second: locks of the server itself, which the witness does not see
PERIOD_S = 0.1  # of camp's samples; with many sessions on a busy machine they may be half as many


def camp_of(camp, conninfo, tier, seconds):
    output = tempfile.TemporaryFile()  # A full pipe would stop camp.
    return subprocess.Popen([camp, 'why', '--from', f'postgres:{conninfo}', '--tier', tier, '--interval', '1s', '--count', str(seconds),
                             '--top', '0', '--format', 'json'], stdout=output), output


def pairs_of(process, output, name_of, by_root):
    """Returns how long each pair waited in a second, by the trees of camp, and the unknown and the measured part of all
    contention."""
    times, seconds, unknown, whole, measured = collections.Counter(), 0, 0, 0, 0
    process.wait()
    output.seek(0)
    for line in output.read().splitlines():
        record = json.loads(line)
        seconds += record['interval_s']
        unknown += record['unknown_ns']
        whole += record['contention_ns']
        measured += record['measured_ns'] or 0
        assert record['known_ns'] + record['unknown_ns'] == record['contention_ns'], record
        assert sum(row['waited_ns'] or 0 for row in record['tree']) == record['known_ns'], record
        path = []
        for row in record['tree']:
            path[row['depth']:] = [row['pid']]
            if row['depth'] > 0 and row['waited_ns']:
                times[group_of(name_of(row['pid'])), name_of(path[0 if by_root else -2])] += row['waited_ns'] / 1e9
    if process.returncode != 0:
        sys.exit(f'camp: exit status {process.returncode}')
    return {pair: time / seconds for pair, time in times.items()}, 100 * unknown / max(whole, 1), 100 * measured / max(whole, 1)


def group_of(name):
    return name.rstrip('0123456789')


def front_of(blocked, pid):
    """Returns the blockers of a session that wait for no other of them."""
    all_of = {other for other in blocked[pid] if other != pid}
    return {other for other in all_of if not (set(blocked.get(other, ())) - {other}) & all_of} or all_of


def root_of(blocked, pid):
    """Returns where the chain of blockers of a session ends."""
    passed = set()
    while front_of(blocked, pid) if pid in blocked else ():
        passed.add(pid)
        pid = min(front_of(blocked, pid))
        if pid in passed:
            break
    return pid


def witnessed(lines, name_of, only_asleep, by_root):
    by_sample, times = collections.defaultdict(dict), collections.Counter()
    for line in lines[:-1]:
        number, pid, asleep, blockers = line.split(' ')
        by_sample[number][int(pid)] = [int(other) for other in blockers.strip('{}').split(',') if other], asleep == '1'
    for sample in by_sample.values():
        blocked = {pid: blockers for pid, (blockers, _) in sample.items()}
        for pid, (_, asleep) in sample.items():
            front = front_of(blocked, pid)
            for other in front if asleep or not only_asleep else ():
                end = root_of(blocked, other) if by_root else other
                times[group_of(name_of(pid)), name_of(end)] += 1 / len(front)
    count = int(lines[-1].split()[0])
    return {pair: time / count for pair, time in times.items()}, count


def main():
    camp, sampler, conninfo, seconds, names, *tiers = sys.argv[1:]
    known = dict(pair.split('=') for pair in names.split(','))

    def name_of(pid):
        return known.get(str(pid), 'other')
    samples = tempfile.TemporaryFile('w+')
    witness = subprocess.Popen([sampler, conninfo, str(HZ)], stdin=subprocess.PIPE, stdout=samples, text=True)
    runs = [camp_of(camp, conninfo, tier, int(seconds)) for tier in tiers]
    found = [pairs_of(*run, name_of, tier == 'bpf') for run, tier in zip(runs, tiers)]
    witness.communicate('')
    samples.seek(0)
    lines = samples.read().splitlines()
    if witness.returncode != 0 or len(lines) < 2:
        sys.exit('the sampler saw no lock')
    wrong, table = [], collections.defaultdict(dict)
    for tier, (times, *_) in zip(tiers, found):
        seen, count = witnessed(lines, name_of, tier != 'SQL', tier == 'bpf')
        whole_of = 'sampler, roots' if tier == 'bpf' else 'sampler'
        for pair in sorted(set(seen) | set(times)):
            waiter, there, here = pair[0], seen.get(pair, 0), times.get(pair, 0)
            whole = max(sum(time for (other, _), time in seen.items() if other == waiter), 1e-3)
            share = min(1, there / whole)
            error = math.sqrt(share * (1 - share) * (1 / count + 2 * PERIOD_S / int(seconds)))
            most = max(LEAST_S, whole * (PERCENT / 100 + ERRORS * error))
            table[pair][tier] = here
            table[pair].setdefault(whole_of, there)
            if abs(here - there) > most:
                wrong.append(f'{tier}: {waiter} for {pair[1]}: {here:.3f} s, not {there:.3f} ± {most:.3f}')
    columns = (*(['sampler, roots'] if 'bpf' in tiers else []), *tiers[:tiers.count('bpf')], 'sampler', *tiers[tiers.count('bpf'):])
    print('| who waited | for whom | ' + ' | '.join(columns) + ' |\n|---|---|' + '---|' * len(columns))
    for (waiter, blocker), times in sorted(table.items()):
        if max(times.values()) < 0.0005:
            continue
        print(f'| {waiter} | {blocker} | ' + ' | '.join(f'{times.get(column, 0):.3f}' for column in columns) + ' |')
    for what, at in (('unknown', 1), ('measured', 2)):
        shares = {tier: f'{result[at]:.1f} %' for tier, result in zip(tiers, found)}
        print(f'| {what}, of all contention | | ' + ' | '.join(shares.get(column, '') for column in columns) + ' |')
    if wrong:
        sys.exit('\n'.join(wrong))


main()
