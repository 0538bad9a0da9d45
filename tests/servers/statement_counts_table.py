"""statement_counts_table.py <FRAMES: prints a table of the statements of TPC-B from frames of camp top --group query
--queries --format json: their time by state as it was measured, and what pg_stat_statements counted of them. Fails if
the statements of a transaction were not called equally often, but for those that ran at an end, or if the server counted
more time than was measured.
"""
import json
import sys

CLIENTS, STATES = 8, ('cpu_ns', 'run_queue_ns', 'contention_ns', 'wait_ns')
TPC_B = ('BEGIN', 'UPDATE pgbench_accounts', 'SELECT abalance', 'UPDATE pgbench_tellers', 'UPDATE pgbench_branches',
         'INSERT INTO pgbench_history', 'END')
NORMALISED = {'begin': 'BEGIN', 'commit': 'END'}  # from version 17 on


def text_of(row):
    text = row['labels']['query'] or ''
    return NORMALISED.get(text, text)


def main():
    frames = [json.loads(line) for line in sys.stdin if line.strip()]
    wall = sum(frame['interval_s'] for frame in frames)
    table, wrong = [], []
    for name in TPC_B:
        rows = [row for frame in frames for row in frame['entities']
                if text_of(row).startswith((name, 'example: ' + name))]
        counters = {key: sum(row['counters'].get(key, 0) for row in rows)
                    for key in ('reported_calls', 'reported_planning_ns', 'reported_execution_ns')}
        states = [sum(row['states'][state] for row in rows) for state in STATES]
        table.append((name, counters['reported_calls'], states, sum(row['elapsed_ns'] for row in rows),
                      counters['reported_planning_ns'], counters['reported_execution_ns']))
    print('| statement | calls | measured | on a CPU | run queue | contention | wait | reported: planning | execution | unreported |')
    print('|---|---|---|---|---|---|---|---|---|---|')
    for name, calls, states, elapsed, planning, execution in table:
        times = (elapsed, *states, planning, execution, elapsed - planning - execution)
        print(f'| {name} | {calls / wall:.0f}/s | ' + ' | '.join(f'{ns / 1e6 / wall:.1f}' for ns in times) + ' |')
    most, least = max(row[1] for row in table), min(row[1] for row in table)
    if least == 0 or most - least > CLIENTS * 2:
        wrong.append(f'the statements were called {least} to {most} times')
    measured, reported = (sum(row[3] for row in table), sum(row[4] + row[5] for row in table))
    # A call is counted in the interval in which it ends; the calls of all clients at the start of the first one are more.
    longest = max(row[5] / max(1, row[1]) for row in table)
    if measured < reported - 10 * CLIENTS * longest:
        wrong.append(f'the server counted {reported} ns, more than the measured {measured} ns')
    if wrong:
        sys.exit('\n'.join(wrong))


main()
