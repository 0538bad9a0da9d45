"""wakers_law.py CAMP CONNINFO: a chain of three sessions, by camp on the tier bpf and by the clocks of the sessions.

holder has row 1, middle has row 2 and waits for row 1, last waits for row 2. Each writes to the table clocks when it
starts to wait, gets its row, and is about to commit. A wait lasts from before it started until its blocker commits at
least, and until the session goes on at most; camp must be within 1 % of these bounds, and all of it must be measured.
The server's deadlock timer interrupts each wait, mostly while a busy session has the CPU, which must block nobody.
Prints a table: seconds of each pair, with its root.
"""
import collections
import json
import subprocess
import sys
import tempfile
import time

INTERVAL_S, PERCENT, TRIES = 8, 1, 4
CLOCK = "insert into clocks values ('{} {}', extract(epoch from clock_timestamp()));"


class Session:
    def __init__(self, conninfo, name):
        self.process = subprocess.Popen(['psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', f'{conninfo} application_name={name}'],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.name, self.pid = name, int(self.ask('select pg_backend_pid();'))

    def say(self, sql):
        self.process.stdin.write(sql + '\n')
        self.process.stdin.flush()

    def ask(self, sql):
        self.say(sql)
        return self.process.stdout.readline().strip()


def awake_s(session):
    """Returns the seconds that a session ran and waited for a CPU."""
    with open(f'/proc/{session.pid}/schedstat') as file:
        return sum(map(int, file.read().split()[:2])) / 1e9


def until(condition):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    sys.exit('a condition did not become true within a minute')


def run_chain(sessions, monitor):
    """Returns the clocks of the sessions."""
    holder, middle, last = sessions
    clock = {session: {when: CLOCK.format(session.name, when) for when in ('waits', 'goes on', 'commits')} for session in sessions}

    def waits(session, blocker):
        return monitor.ask(f'select pg_blocking_pids({session.pid}) = array[{blocker.pid}];') == 't'
    monitor.ask('truncate clocks; select 1;')
    holder.ask('begin; update t set b = 1 where a = 1; select 1;')
    middle.ask('begin; update t set b = 1 where a = 2; select 1;')
    middle.say(f"{clock[middle]['waits']} update t set b = 2 where a = 1; {clock[middle]['goes on']} select pg_sleep(1);"
               f"{clock[middle]['commits']} commit; select 1;")
    until(lambda: waits(middle, holder))
    last.say(f"{clock[last]['waits']} update t set b = 3 where a = 2; {clock[last]['goes on']} select 1;")
    until(lambda: waits(last, middle))
    holder.ask(f"select pg_sleep(1); {clock[holder]['commits']} commit; select 1;")
    holder.process.stdout.readline()
    for session in (middle, last):
        session.process.stdout.readline()
    middle.process.stdout.readline()
    monitor.say("select string_agg(what || '=' || at, ',') from clocks;")
    return {what: float(at) for what, at in (pair.split('=') for pair in monitor.process.stdout.readline().strip().split(','))}


def pairs_of(record):
    """Returns the time of each (waiter, blocker, root), and the part that is measured."""
    times, measured, path = collections.Counter(), collections.Counter(), []
    assert record['known_ns'] + record['unknown_ns'] == record['contention_ns'], record
    assert sum(row['waited_ns'] or 0 for row in record['tree']) == record['known_ns'], record
    assert sum(row['measured_ns'] or 0 for row in record['tree']) == record['measured_ns'] <= record['known_ns'], record
    for row in record['tree']:
        path[row['depth']:] = [row['pid']]
        if row['depth'] > 0 and row['waited_ns']:
            times[row['pid'], path[-2], path[0]] += row['waited_ns'] / 1e9
            measured[row['pid'], path[-2], path[0]] += row['measured_ns'] / 1e9
    return times, measured


def main():
    camp, conninfo, *busy = sys.argv[1:]
    sessions = holder, middle, last = [Session(conninfo, name) for name in ('holder', 'middle', 'last')]
    monitor = Session(conninfo, 'monitor')
    output = tempfile.NamedTemporaryFile('w+')
    run = subprocess.Popen([camp, 'why', '--from', f'postgres:{conninfo}', '--tier', 'bpf', '--interval', f'{INTERVAL_S}s', '--count',
                            str(1 + TRIES), '--top', '0', '--format', 'json'], stdout=output)

    def records():
        with open(output.name) as file:
            return [json.loads(line) for line in file if line.endswith('\n')]
    for tried in range(1, 1 + TRIES):
        until(lambda: len(records()) >= tried)
        awake = {session: -awake_s(session) for session in sessions}
        clocks = run_chain(sessions, monitor)
        awake = {session: awake_s(session) + before for session, before in awake.items()}
        if len(records()) == tried:
            break
        print('the chain did not end in its interval')
    else:
        sys.exit('no chain ended in its interval')
    until(lambda: len(records()) > tried)
    run.kill()
    run.wait()
    times, measured = pairs_of(records()[tried])
    expected = {
        (middle, holder, holder): (clocks['holder commits'] - clocks['middle waits'], clocks['middle goes on'] - clocks['middle waits']),
        (last, middle, holder): (clocks['holder commits'] - clocks['last waits'], clocks['middle goes on'] - clocks['last waits']),
        (last, middle, middle): (clocks['middle commits'] - clocks['middle goes on'], clocks['last goes on'] - clocks['holder commits']),
    }
    names = {session.pid: session.name for session in sessions}
    wrong = []
    print('| who waited | for whom | root | at least | at most | camp | measured |\n|---|---|---|---|---|---|---|')
    for (waiter, blocker, root), (least, most) in expected.items():
        key = waiter.pid, blocker.pid, root.pid
        here = times[key]
        least -= awake[waiter]
        print(f'| {waiter.name} | {blocker.name} | {root.name} | {least:.4f} | {most:.4f} | {here:.4f} | {measured[key]:.4f} |')
        if not least * (1 - PERCENT / 100) <= here <= most * (1 + PERCENT / 100) or measured[key] != here:
            wrong.append(f'{waiter.name} for {blocker.name}')
    wrong += [f'{pid} blocks, and is busy' for _, pid, _ in times if str(pid) in busy]
    # Locks of the server itself may be waited for, for some microseconds.
    wrong += [f'{key}: {here:.4f} s' for key, here in times.items() if here > 0.01 and not set(key) <= set(names)]
    if wrong:
        sys.exit('\n'.join(wrong))


main()
