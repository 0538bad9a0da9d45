#!/usr/bin/env python3
"""oracle_file.py: a synthetic Oracle database with known contents, in an SQLite file.

    oracle_file.py make FILE --sessions N --seconds S [--host NAME] [--spid PID,...] [--all-live]
    oracle_file.py replace FILE
    oracle_file.py serve FILE --sid N
    oracle_file.py compare FILE RECORDING --since N --ticks N --snapshots NS

`make` writes in advance what each session does. The time of a session is divided into pieces; during a piece the
session is on a CPU or in one wait. The views (v$session, v$session_event, ...) compute from the pieces and the clock
what Oracle would report now. v$session_event has the finished waits. DB CPU and DB time are as of the last multiple
of 5 s.

After half of --seconds, session 1 is replaced by a session with the same sid and another serial#, and session 2
ends. Session 3 has one wait all the time. With --all-live no session is replaced or ends, and session 3 is like the
other sessions. `replace` then replaces session 1 and ends session 2 at once.

`serve` waits for FILE, and is then the process of session N: it uses CPU time when the session is on a CPU. It writes
the sum of its delays at the ends of pieces to FILE.late.SID, in ns.

`compare` compares a recording with the contents, in the intervals after --since up to --ticks. It prints:

    apart_STATE      for each session the differences between its rows and the contents are added up; this is the
                     largest of these sums, in ns. cpu includes the run queue, which the database does not report.
    unaccounted_SID  the unaccounted time of a session
    rows             the number of rows
    absent           the number of rows of a session that did not exist throughout the interval; the duration of all
                     snapshots is tolerated
    missing          the number of rows that permanent sessions lack
    cpu_intervals    the number of intervals with CPU time
    cpu_steps        the number of multiples of 5 s in the recording
"""
import argparse
import collections
import math
import os
import random
import sqlite3
import sys
import time

SCHEMA = '''
create table being(sid integer, serial integer, name text, begun real, ended real, spid integer);
create table piece(sid integer, serial integer, begun real, ended real, class text, event text);
create index piece_by_session on piece(sid, serial, begun);
create table instance(host text, origin real, begun text);
create view moment as select (julianday('now') - 2440587.5) * 86400.0 - origin as now from instance;
create view present as select * from being, moment where begun <= now and now < ended;
create view "v$instance" as select host as host_name, 'SIM' as instance_name, begun as startup_time
  from instance;
create view "v$process" as select sid as addr, spid from present where spid is not null;
create view "v$session" as
  select s.sid, s.serial as "SERIAL#", s.name as username, 'ACTIVE' as status, s.sid as paddr,
    case when p.class is null then 'WAITED KNOWN TIME' else 'WAITING' end as state,
    p.event, p.class as wait_class,
    case when p.class is null then 0 else cast((s.now - p.begun) * 1000000 as integer) end
      as wait_time_micro,
    datetime(s.begun, 'unixepoch') as logon_time, 'sim' as program, 'here' as machine,
    '' as module, 'USER' as type
  from present s left join piece p
    on p.sid = s.sid and p.serial = s.serial and p.begun <= s.now and s.now < p.ended;
create view "v$session_event" as
  select p.sid, p.class as wait_class, p.event,
    cast((p.ended - p.begun) * 1000000 as integer) as time_waited_micro, 1 as total_waits
  from present s join piece p on p.sid = s.sid and p.serial = s.serial
  where p.class is not null and p.ended <= s.now;
create view written as
  select s.sid, p.class, max(0, min(p.ended, cast(s.now / 5 as integer) * 5) - p.begun) as s
  from present s join piece p on p.sid = s.sid and p.serial = s.serial where p.begun <= s.now;
create view "v$sess_time_model" as
  select sid, 'DB CPU' as stat_name, cast(sum(s) * 1000000 as integer) as value
    from written where class is null group by sid
  union all select sid, 'DB time', cast(sum(s) * 1000000 as integer)
    from written where class is not 'Idle' group by sid;
'''

WAITS = (('User I/O', 'db file sequential read', 'wait'), ('Commit', 'log file sync', 'wait'),
         ('Application', 'enq: TX - row lock contention', 'contention'),
         ('Other', 'latch free', 'contention'), ('Concurrency', 'library cache lock', 'contention'),
         ('Idle', 'SQL*Net message from client', 'idle'))
STATE = {event: state for _, event, state in WAITS}
STATES = ('cpu', 'contention', 'wait', 'idle')


def pieces(sid, begun, ended, means):
    """Yields the pieces of a session between two times: (begun, ended, class, event). On a CPU the class is None."""
    at = begun
    if sid == 3 and len(means) > 1:
        yield begun, ended, *WAITS[0][:2]
        return
    while at < ended:
        for kind in (None, random.choice(WAITS)):
            until = min(at + random.expovariate(1 / random.choice(means)), ended)
            yield at, until, *(kind[:2] if kind else (None, None))
            at = until


def make(options):
    random.seed(options.seed)
    unfinished = options.file + '.unfinished'
    db = sqlite3.connect(unfinished)
    db.executescript(SCHEMA)
    db.execute('insert into instance values (?, ?, ?)', (options.host, time.time(), options.begun))
    horizon = options.seconds + 120
    means = (0.3,) if options.all_live else (0.02, 0.3, 1.5)
    spids = options.spid.split(',') if options.spid else []
    for sid in range(1, options.sessions + 1):
        half = options.seconds / 2
        lives = ((7, -20, 1e9),)
        if not options.all_live and sid in (1, 2):
            lives = ((7, -20, half), (8, half, 1e9))[:3 - sid]
        for serial, begun, ended in lives:
            spid = int(spids[sid - 1]) if sid <= len(spids) else None
            db.execute('insert into being values (?, ?, ?, ?, ?, ?)',
                       (sid, serial, f'U{sid}', begun, ended, spid))
            db.executemany('insert into piece values (?, ?, ?, ?, ?, ?)', (
                (sid, serial, *piece)
                for piece in pieces(sid, begun, min(ended, horizon), means)))
    db.execute('update instance set origin = ?', (time.time(),))
    db.commit()
    db.close()
    os.rename(unfinished, options.file)


def replace(options):
    """Gives session 1 another serial#, and ends session 2. Prints how long readers had to wait, in ns."""
    db = sqlite3.connect(options.file, isolation_level=None, timeout=600)
    began = time.monotonic_ns()
    db.execute('begin exclusive')
    now, = db.execute('select now from moment').fetchone()
    db.execute('insert into being select sid, serial + 1, name, ?, ended, spid from being where sid = 1', (now,))
    db.execute('update being set ended = ? where sid in (1, 2) and begun < ?', (now, now))
    db.executemany('insert into piece values (1, 8, ?, ?, ?, ?)', pieces(1, now, now + 120, (0.3,)))
    db.execute('commit')
    print(time.monotonic_ns() - began)


def serve(options):
    while not os.path.exists(options.file):
        time.sleep(0.02)
    db = sqlite3.connect(options.file)
    origin, = db.execute('select origin from instance').fetchone()
    late = 0.0
    with open(f'{options.file}.late.{options.sid}', 'wb', buffering=0) as report:
        for ended, event in db.execute('select ended, event from piece where sid = ? and ended > ? '
                                       'order by begun', (options.sid, time.time() - origin)).fetchall():
            until = ended + origin
            if event:
                time.sleep(max(0, until - time.time()))
            while time.time() < until:
                pass
            late += time.time() - until
            os.pwrite(report.fileno(), b'%20d\n' % (late * 1e9), 0)


def truth(db):
    """Returns the pieces of each session: {(sid, serial): [(begun, ended, state)]}."""
    lives = collections.defaultdict(list)
    for sid, serial, begun, ended, event in db.execute(
            'select sid, serial, begun, ended, event from piece order by begun'):
        lives[sid, serial].append((begun, ended, STATE[event] if event else 'cpu'))
    return lives


def between(life, begin, end):
    """Returns the seconds in each state between two times."""
    sums = dict.fromkeys(STATES, 0.0)
    for begun, ended, state in life:
        sums[state] += max(0.0, min(ended, end) - max(begun, begin))
    return sums


def rows_of(record, options, origin):
    """Yields (tick, (sid, serial), begin, end, values) for each row. The values are the times in STATES and the
    unaccounted time, in s."""
    for tick, wall_ns, elapsed_ns, name, *values in record.execute(
            'select tick, wall_clock_ns, o.elapsed_ns, name, cpu_ns + run_queue_ns, contention_ns, wait_ns, '
            'idle_ns, unaccounted_ns from oracle_every o join tick using (tick) join entity using (entity) '
            'where tick > ? and tick <= ?', (options.since, options.ticks)):
        end = wall_ns / 1e9 - origin
        session = tuple(int(number) for number in name.split()[-1].split(','))
        yield tick, session, end - elapsed_ns / 1e9, end, [value / 1e9 for value in values]


def compare(options):
    db = sqlite3.connect(options.file)
    origin, = db.execute('select origin from instance').fetchone()
    being = {(sid, serial): (begun, ended) for sid, serial, begun, ended in db.execute(
        'select sid, serial, begun, ended from being')}
    lives = truth(db)
    apart = collections.defaultdict(lambda: dict.fromkeys(STATES, 0.0))
    unaccounted, rows = collections.Counter(), collections.Counter()
    snapshots, absent, with_cpu, times = options.snapshots / 1e9, 0, set(), []
    for tick, session, begin, end, values in rows_of(sqlite3.connect(options.recording), options, origin):
        rows[session] += 1
        absent += being[session][0] > begin + snapshots or being[session][1] < end - snapshots
        true = between(lives[session], begin, end)
        for state, value in zip(STATES, values):
            apart[session][state] += abs(value - true[state])
        unaccounted[session[0]] += abs(values[4])
        if values[0] > 0:
            with_cpu.add(tick)
        times += [begin, end]
    print('rows', sum(rows.values()))
    print('absent', absent)
    always = [session for session, (begun, ended) in being.items() if begun <= min(times) and ended >= max(times)]
    print('missing', sum(options.ticks - options.since - rows[session] for session in always))
    for state in STATES:
        session = max(apart, key=lambda session: apart[session][state])
        print(f'apart_{state}', round(1e9 * apart[session][state]), 'of', *session)
    for sid, s in sorted(unaccounted.items()):
        print(f'unaccounted_{sid}', round(1e9 * s))
    print('cpu_intervals', len(with_cpu))
    print('cpu_steps', math.floor((max(times) + snapshots) / 5) - math.floor((min(times) - snapshots) / 5))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('what', choices=('make', 'replace', 'serve', 'compare'))
    parser.add_argument('file')
    parser.add_argument('recording', nargs='?')
    parser.add_argument('--sessions', type=int, default=20)
    parser.add_argument('--seconds', type=float, default=20)
    parser.add_argument('--host', default='elsewhere')
    parser.add_argument('--begun', default='2008-11-22 02:00:00')
    parser.add_argument('--spid', default='')
    parser.add_argument('--sid', type=int)
    parser.add_argument('--since', type=int)
    parser.add_argument('--ticks', type=int)
    parser.add_argument('--snapshots', type=int, default=0)
    parser.add_argument('--all-live', action='store_true')
    parser.add_argument('--seed', type=int, default=7)
    options = parser.parse_args()
    return {'make': make, 'replace': replace, 'serve': serve, 'compare': compare}[options.what](options)


sys.exit(main())
