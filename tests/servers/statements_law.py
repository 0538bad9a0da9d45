"""statements_law.py CAMP SAMPLER CONNINFO SECONDS TIER...: which statements wait for the locks of rows, by camp on each
tier and by SAMPLER (lock_sampler.c) at 200 Hz, all in the same interval. Prints a table of shares, with what camp
reported when it charged a session's time to its last statement. Fails if a share by statement differs by more than 3
points from the sampler, or by four standard errors of the samples, if these are more. A tier that samples may differ by
both together: its samples are made when camp gets a CPU, which is rather when another session falls asleep.

The tier SQL counts what the database calls waiting, so it is compared with all samples; the others with those asleep.
"""
import collections
import json
import math
import subprocess
import sys

POINTS, ERRORS, HZ = 3, 4, 200


def camp_of(camp, conninfo, tier, group, seconds):
    return subprocess.Popen([camp, 'top', '--from', f'postgres:{conninfo}', '--tier', tier, '--group', group, '--interval', '1s',
                             '--count', str(seconds), '--format', 'json'], stdout=subprocess.PIPE, text=True)


def shares_of(counts):
    whole = sum(counts.values())
    return {name: 100 * count / whole for name, count in counts.items()} if whole else {}


def locks_of(process):
    """Returns the row-lock time by statement, and the number of its samples (None if it is measured)."""
    times, samples = collections.Counter(), 0
    for line in process.communicate()[0].splitlines():
        for row in json.loads(line)['entities']:
            ns = row['counters']['contention_row_lock_ns']
            times[row['name']] += ns
            if row['elapsed_ns'] > 0:
                samples += row['counters'].get('samples', 0) * ns / row['elapsed_ns']
    if process.returncode != 0:
        sys.exit(f'camp: exit status {process.returncode}')
    return times, samples


def main():
    camp, sampler, conninfo, seconds, *tiers = sys.argv[1:]
    groups = [(tier, group) for tier in tiers for group in ('query', 'last_statement')]
    witness = subprocess.Popen([sampler, conninfo, str(HZ)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    runs = [camp_of(camp, conninfo, tier, group, int(seconds)) for tier, group in groups]
    locks = {pair: locks_of(run) for pair, run in zip(groups, runs)}
    lines = [line.split(' ', 3) for line in witness.communicate('')[0].splitlines()]
    if witness.returncode != 0 or not lines:
        sys.exit('the sampler saw no lock')
    samples = {False: {id: int(count) for id, count, _, _ in lines}, True: {id: int(count) for id, _, count, _ in lines}}
    texts = {id: text for id, _, _, text in lines}
    ids = sorted(set(texts) | {name for times, _ in locks.values() for name, ns in times.items() if ns > 0},
                 key=lambda id: -samples[True].get(id, 0))
    wrong = []
    print('| tier | statement | sampler | by statement | by last statement |\n|---|---|---|---|---|')
    for tier in tiers:
        seen = samples[tier != 'SQL']
        sampled = shares_of(seen)
        times, taken = locks[tier, 'query']
        shares, last = shares_of(times), shares_of(locks[tier, 'last_statement'][0])
        for id in ids:
            p = sampled.get(id, 0) / 100
            error = 100 * math.sqrt(p * (1 - p) * (1 / sum(seen.values()) + (1 / taken if taken else 0)))
            most = POINTS + ERRORS * error if taken else max(POINTS, ERRORS * error)
            if max(sampled.get(id, 0), shares.get(id, 0), last.get(id, 0)) >= 0.5:
                print(f'| {tier} | {texts.get(id, id)} | {sampled.get(id, 0):.1f} % | {shares.get(id, 0):.1f} % | {last.get(id, 0):.1f} % |')
            if abs(shares.get(id, 0) - sampled.get(id, 0)) > most:
                wrong.append(f'{tier}: {texts.get(id, id)}: {shares.get(id, 0):.1f} %, not {sampled.get(id, 0):.1f} ± {most:.1f}')
    if wrong:
        sys.exit('\n'.join(wrong))


main()
