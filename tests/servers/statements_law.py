"""statements_law.py CAMP SAMPLER FROM PLACE SECONDS TIER...: which statements wait for the locks of rows, by camp --from
FROM on each tier and by SAMPLER (lock_sampler.c of PostgreSQL, innodb_sampler.c of MariaDB) of PLACE at 200 Hz. Prints a
table of shares; of PostgreSQL also with what camp reported when it charged a session's time to its last statement.

Each run of camp is compared with the samples of its own intervals. Fails if a share by statement differs from that of
the samples by more than 3 points, or by four standard errors of the difference, if these are more. Samples of one wait
resemble each other, so the error is not that of independent samples: it comes from the differences of the intervals
(a jackknife, Quenouille 1956). A tier that samples may differ by both together: its samples are made when camp gets a
CPU, which is rather when another session falls asleep.

The tier SQL counts what the database calls waiting, so it is compared with all samples; the others with those asleep.
"""
import collections
import datetime
import json
import math
import subprocess
import sys
import tempfile

POINTS, ERRORS, HZ = 3, 4, 200


def name_of(text):
    """Returns the name of a statement: PostgreSQL's id, or the first two words of a text of MariaDB."""
    return '_'.join(text.removeprefix('example: ').replace('`', '').lower().split()[:2])


def camp_of(camp, place, tier, group, seconds):
    texts = [] if place.startswith('postgres:') else ['--queries']
    return subprocess.Popen([camp, 'top', '--from', place, '--tier', tier, '--group', group, *texts, '--interval', '1s',
                             '--count', str(seconds), '--format', 'json'], stdout=subprocess.PIPE, text=True)


def locks_of(process):
    """Returns the intervals of a run: their begin and end (s since 1970), and the row-lock time by statement."""
    intervals = []
    for line in process.communicate()[0].splitlines():
        frame, times = json.loads(line), collections.Counter()
        for row in frame['entities']:
            times[name_of(row['name'])] += row['counters']['contention_row_lock_ns']
        end = datetime.datetime.fromisoformat(frame['time']).timestamp()
        intervals.append((end - frame['interval_s'], end, times))
    if process.returncode != 0:
        sys.exit(f'camp: exit status {process.returncode}')
    return intervals


def samples_in(samples, begin, end, only_asleep):
    return collections.Counter(id for at, asleep, id in samples if begin <= at < end and (asleep or not only_asleep))


def share_of(counts, id):
    whole = sum(sum(count.values()) for count in counts)
    return 100 * sum(count[id] for count in counts) / whole if whole else 0


def error_of_difference(ours, theirs, id):
    """Returns the standard error of the difference of two shares, from the intervals that both have."""
    n = len(ours)
    without = [share_of(ours[:i] + ours[i + 1:], id) - share_of(theirs[:i] + theirs[i + 1:], id) for i in range(n)]
    mean = sum(without) / n
    return math.sqrt((n - 1) / n * sum((one - mean) ** 2 for one in without))


def main():
    camp, sampler, source, place, seconds, *tiers = sys.argv[1:]
    # InnoDB renews its list of transactions only while few programs read it.
    by = ('query', 'last_statement') if source.startswith('postgres:') else ('query',)
    groups = [(tier, group) for tier in tiers for group in by]
    with tempfile.TemporaryFile('w+') as output:
        witness = subprocess.Popen([sampler, place, str(HZ)], stdin=subprocess.PIPE, stdout=output)
        runs = [camp_of(camp, source, tier, group, int(seconds)) for tier, group in groups]
        locks = {pair: locks_of(run) for pair, run in zip(groups, runs)}
        witness.communicate(b'')
        output.seek(0)
        lines = [line.rstrip('\n').split(' ', 3) for line in output]
    if witness.returncode != 0 or not lines:
        sys.exit('the sampler saw no lock')
    samples = [(float(at), asleep == '1', id) for at, asleep, id, _ in lines]
    texts = {id: text for _, _, id, text in lines}
    wrong = []
    print('| tier | statement | sampler | by statement | by last statement |\n|---|---|---|---|---|')
    for tier in tiers:
        ours = [times for _, _, times in locks[tier, 'query']]
        last = [times for _, _, times in locks.get((tier, 'last_statement'), ())]
        theirs = [samples_in(samples, begin, end, tier != 'SQL') for begin, end, _ in locks[tier, 'query']]
        ids = set().union(*ours, *theirs, *last)
        for id in sorted(ids, key=lambda id: -share_of(theirs, id)):
            sampled, share, of_last = share_of(theirs, id), share_of(ours, id), share_of(last, id)
            error = ERRORS * error_of_difference(ours, theirs, id)
            most = max(POINTS, error) if tier == 'bpf' else POINTS + error
            if max(sampled, share, of_last) >= 0.5:
                print(f'| {tier} | {texts.get(id, id)} | {sampled:.1f} % | {share:.1f} % | {of_last:.1f} % |')
            if abs(share - sampled) > most:
                wrong.append(f'{tier}: {texts.get(id, id)}: {share:.1f} %, not {sampled:.1f} ± {most:.1f}')
    if wrong:
        sys.exit('\n'.join(wrong))


main()
