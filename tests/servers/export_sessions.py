"""Tests camp export --from against a real PostgreSQL or MariaDB server, by requests like those of a scraper.

    export_sessions.py CAMP TEST SOURCE [OPTIONS OF camp export]

SOURCE is the text of --from. The environment has the server: PG_FOLDER and POSTGRES_BIN, or MARIADB_SOCKET. Prints what
it found; exit status 0: passed.
"""
import decimal
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location('scraper', HERE.parent / 'commands/export.py')
scraper = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scraper)
check = scraper.check

STATES = ('cpu', 'run_queue', 'contention', 'wait', 'idle', 'idle_in_transaction')
LONGEST = 'camp_session_longest_{}_seconds'


class Page(dict):
    """{name and labels as they are on the page: exact number}, and the moments before and after the request."""

    def __init__(self, exporter):
        self.before = time.monotonic()
        status, _, body = exporter.ask(Accept='text/plain')
        self.after = time.monotonic()
        self.text = body.decode()
        check(status == 200, f'status {status}: {self.text}')
        super().__init__((key, decimal.Decimal(value)) for key, value in (
            line.rsplit(' ', 1) for line in self.text.splitlines() if not line.startswith('#')))

    def seconds(self):
        """How long the request took: its last sample was made at some moment of it."""
        return decimal.Decimal(self.after - self.before)

    def group(self, label, name, state=None):
        """The time of a group, in one state or in all."""
        labels = f'{label}="{name}"' + (f',state="{state}"' if state else '')
        return self.get(f'camp_session_{"state_" if state else ""}seconds_total{{{labels}}}', 0)

    def total(self, family):
        return sum(value for key, value in self.items() if key.split('{')[0] == family)

    def check_sums(self):
        """The law of all times, exactly."""
        elapsed = self.total('camp_session_seconds_total') + self['camp_session_retired_seconds_total']
        states = (self.total('camp_session_state_seconds_total') +
                  self.total('camp_session_retired_state_seconds_total'))
        rest = self['camp_session_unaccounted_seconds_total'] - self['camp_session_overlapping_seconds_total']
        check(elapsed == states + rest, f'sessions {elapsed}, states {states}, rest {rest}')


def check_growth(before, after):
    for key, value in before.items():
        check('_total' not in key.split('{')[0] or after.get(key, value) >= value,
              f'{key} fell from {value} to {after.get(key)}')


def exporter_of(camp, source, *options):
    return scraper.Exporter(camp, '--from', source, *options)


class Postgres:
    label = 'application'

    def __init__(self):
        self.psql = os.environ['POSTGRES_BIN'] + '/psql'
        self.place = f'host={os.environ["PG_FOLDER"]} dbname=postgres user=camp_super'

    def sql(self, text):
        return subprocess.run([self.psql, '-XqAt', '-v', 'ON_ERROR_STOP=1', self.place, '-c', text], check=True,
                              stdout=subprocess.PIPE, text=True).stdout.strip()

    def start(self, name):
        return subprocess.Popen([self.psql, '-Xq', f"{self.place} application_name='{name}'"], stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, text=True)

    def is_doing(self, name, what):
        return self.sql(f"select count(*) from pg_stat_activity where application_name = $${name}$$ and {what}") == '1'

    begin, idle = 'begin', "state = 'idle'"
    in_transaction, waits = "state = 'idle in transaction'", "wait_event_type = 'Lock'"
    runs = "state = 'active' and wait_event is null"
    burn = 'do $$ begin loop end loop; end $$;'

    def pid(self, name):
        return self.sql(f"select pid from pg_stat_activity where application_name = '{name}'")

    def start_of_wait(self):
        """Before version 14 the server does not say when a wait began, and camp takes the start of the statement."""
        if int(self.sql('show server_version_num')) < 140000:
            return "state_change) from pg_stat_activity where wait_event_type = 'Lock'"
        return 'waitstart) from pg_locks where not granted'

    def ages(self):
        """Ages of the transaction, of the idle time in it, and of the lock's wait, by the server."""
        row = self.sql("""select extract(epoch from clock_timestamp() - (select min(xact_start) from pg_stat_activity
            where backend_type = 'client backend' and pid <> pg_backend_pid())),
            extract(epoch from clock_timestamp() - (select min(state_change) from pg_stat_activity
            where state = 'idle in transaction')),
            extract(epoch from clock_timestamp() - (select min(""" + self.start_of_wait() + """))""")
        return dict(zip(('transaction', 'idle_in_transaction', 'blocker'), map(float, row.split('|'))))


class Mariadb:
    """A session has the name of its user."""
    label = 'user'

    def __init__(self):
        self.client = ['mariadb', '--no-defaults', f'--socket={os.environ["MARIADB_SOCKET"]}']

    def sql(self, text):
        return subprocess.run([*self.client, '--user=root', '--batch', '--skip-column-names', '-e', text], check=True,
                              stdout=subprocess.PIPE, text=True).stdout.strip()

    def start(self, name):
        return subprocess.Popen([*self.client, f'--user={name}', 't'], stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, text=True)

    def is_doing(self, name, what):
        return self.sql(f"""select count(*) from information_schema.processlist p left join
            information_schema.innodb_trx x on x.trx_mysql_thread_id = p.id where p.user = '{name}' and {what}""") == '1'

    begin, idle = 'begin', "command = 'Sleep' and trx_id is null"
    in_transaction, waits = "command = 'Sleep' and trx_id is not null", "trx_state = 'LOCK WAIT'"
    runs = "command = 'Query' and trx_id is null"
    burn = 'select benchmark(1000000000000, md5(1));'

    def pid(self, name):
        return self.sql(f"select tid from information_schema.processlist where user = '{name}'")

    def ages(self):
        row = self.sql("""select timestampdiff(microsecond, min(trx_started), now(6)) / 1e6,
            (select max(time_ms) / 1e3 from information_schema.processlist where user = 'holder'),
            timestampdiff(microsecond, min(trx_wait_started), now(6)) / 1e6 from information_schema.innodb_trx""")
        return dict(zip(('transaction', 'idle_in_transaction', 'blocker'), map(float, row.split())))


SERVER = Mariadb() if 'MARIADB_SOCKET' in os.environ else Postgres()


class Sessions:
    """Sessions that do one thing each: nothing; hold a lock in an idle transaction; wait for that lock; run."""

    def __init__(self, names=('idle', 'holder', 'waiter', 'burner'), begins=True):
        self.sessions = {name: SERVER.start(name) for name in names}
        self.begins = begins

    def say(self, name, text):
        self.sessions[name].stdin.write(text + '\n')
        self.sessions[name].stdin.flush()

    def begin(self, names=None):
        for name, text, state in (('idle', 'select 1;', SERVER.idle),
                                  ('holder', f'{SERVER.begin}; update t set a = 2;', SERVER.in_transaction),
                                  ('waiter', 'update t set a = 3;', SERVER.waits),
                                  ('burner', SERVER.burn, SERVER.runs)):
            if name in (self.sessions if names is None else names):
                self.say(name, text)
                scraper.wait_for(lambda: SERVER.is_doing(name, state), f'{name}: {state}')

    def __enter__(self):
        if self.begins:
            self.begin()
        return self

    def __exit__(self, *_):
        for session in self.sessions.values():
            session.kill()
            session.wait()


def awake_seconds(pid):
    """CPU time and run queue by the scheduler."""
    with open(f'/proc/{pid}/schedstat', encoding='ascii') as file:
        cpu, delay, _ = map(int, file.read().split())
    return decimal.Decimal(cpu + delay) / 10**9


WANTED = {'idle': 'idle', 'holder': 'idle_in_transaction', 'waiter': 'contention'}
ROUNDING = decimal.Decimal('0.000001')  # scaled times are rounded down to whole nanoseconds, for each sample


def check_known_sessions(first, last, awake, label):
    """Each session did one thing from one page to the other, except that it was awake for a known time."""
    spread = first.seconds() + last.seconds()
    clock = last['camp_session_clock_seconds_total'] - first['camp_session_clock_seconds_total']
    for name in (*WANTED, 'burner'):
        elapsed = last.group(label, name) - first.group(label, name)
        did = {state: last.group(label, name, state) - first.group(label, name, state) for state in STATES}
        busy = did['cpu'] + did['run_queue']
        most = sum(did.values()) if name == 'burner' else did[WANTED[name]] + busy
        print(name, elapsed, clock, did, awake.get(name))
        check(abs(elapsed - clock) <= spread, f'{name}: {elapsed} of {clock} s, spread {spread}')
        check(elapsed - most <= spread + ROUNDING, f'{name}: {most} of {elapsed}, {did}')
        if name == 'burner':
            check(elapsed - busy <= spread + ROUNDING, f'burner: busy for {busy} of {elapsed}')
        elif awake:
            check(busy <= awake[name] + ROUNDING, f'{name}: busy for {busy}, by the scheduler {awake[name]}')


def test_known_sessions_are_in_their_states(camp, source, *options):
    with Sessions() as sessions, exporter_of(camp, source, *options) as exporter:
        awake = {name: -awake_seconds(SERVER.pid(name)) for name in WANTED}
        first = Page(exporter)
        for _ in range(4):
            time.sleep(0.5)
            last = Page(exporter)
            last.check_sums()
            check_growth(first, last)
        for name in awake:
            awake[name] += awake_seconds(SERVER.pid(name))
        check_known_sessions(first, last, awake, SERVER.label)
        has_run_queue = 'state="run_queue"' in last.text
        check(has_run_queue == ('tier="SQL"' not in last.text), 'the run queue is absent where it is unknown')
        counts = {state: last[f'camp_sessions{{state="{state}"}}'] for state in
                  ('contention', 'idle', 'idle_in_transaction', 'untracked')}
        check(counts == {'contention': 1, 'idle': 1, 'idle_in_transaction': 1, 'untracked': 0}, counts)
        check(sum(last[key] for key in last if key.startswith('camp_sessions{')) == len(sessions.sessions), 'the counts')


RESOLUTION = decimal.Decimal('0.001')  # of a time in JSON
WAIT_OF_BURNER = decimal.Decimal('0.1')  # the longest that it waits for a CPU on a busy machine


def wall_clock(text):
    """Seconds since 1970 of a time of JSON."""
    whole, rest = text[:19], text[20:23]
    return decimal.Decimal(int(time.mktime(time.strptime(whole, '%Y-%m-%dT%H:%M:%S')))) + decimal.Decimal(rest) / 1000


def test_top_has_the_same_times(camp, source, *options):
    """Frames of camp top, and the pages that were asked for at the end of the first and of the last of them, differ by
    what can have happened between the ends of the frames and the moments of the pages."""
    with Sessions(), exporter_of(camp, source, *options) as exporter:
        command = [camp, 'top', '--from', source, '--group', SERVER.label, '--format', 'json', '--count', '5',
                   '--interval', '500ms', *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, 'TZ': 'UTC0'}) as top:
            frames, pages, ends = [], [], []
            for line in top.stdout:
                frames.append(json.loads(line))
                if len(frames) in (1, 5):
                    pages.append(Page(exporter))
                    ends.append(pages[-1]['camp_session_clock_seconds_total'] +
                                decimal.Decimal(time.time() - time.monotonic()))
        check(len(frames) == 5, f'{len(frames)} frames')
        spread = sum(abs(end - wall_clock(frames[at]['time'])) + RESOLUTION for at, end in zip((0, 4), ends))
        spread += sum(page.seconds() for page in pages)
        for name in (*WANTED, 'burner'):
            rows = [row for frame in frames[1:] for row in frame['entities'] if row['name'] == name]
            check(len(rows) == 4, f'{name}: {len(rows)} rows')
            for state in ('cpu', 'run_queue', 'contention', 'wait', 'idle'):
                top_s = sum(decimal.Decimal(row['states'][state + '_ns']) for row in rows) / 10**9
                page_s = sum(page.group(SERVER.label, name, one) * sign for page, sign in zip(pages, (-1, 1))
                             for one in ((state, 'idle_in_transaction') if state == 'idle' else (state,)))
                print(name, state, top_s, page_s, spread)
                # The scheduler counts a wait for a CPU only when it ends.
                open_wait = WAIT_OF_BURNER if name == 'burner' and state in ('cpu', 'run_queue') else 0
                check(abs(top_s - page_s) <= spread + open_wait + ROUNDING, f'{name} {state}: top {top_s}, page {page_s}, {spread}')


def test_ages_are_those_that_the_server_has(camp, source, *options):
    with Sessions(('holder', 'waiter')) as sessions, exporter_of(camp, source, *options) as exporter:
        for kind in ('blocker', 'transaction', 'idle_in_transaction'):
            scraper.wait_for(lambda: Page(exporter)[LONGEST.format(kind)] > 1, kind)
        before, began = SERVER.ages(), time.monotonic()
        page = Page(exporter)
        ended, after = time.monotonic(), SERVER.ages()
        print(before, after, {kind: page[LONGEST.format(kind)] for kind in before})
        for kind, age in before.items():
            # A page may be as old as camp says in docs/export.md, or as the time that its request took.
            check(age - 0.25 - (ended - began) <= page[LONGEST.format(kind)] <= after[kind], kind)
        # The lock is there no longer, and nobody waits.
        sessions.say('holder', 'rollback;')
        scraper.wait_for(lambda: Page(exporter)[LONGEST.format('blocker')] == 0, 'no blocker')
        scraper.wait_for(lambda: Page(exporter)[LONGEST.format('idle_in_transaction')] == 0, 'nobody is idle in one')


def test_a_blocker_blocks_since_another_waits(camp, source, *options):
    """A transaction that is old blocks only since another session waits for its lock."""
    with Sessions(('holder', 'waiter'), begins=False) as sessions, exporter_of(camp, source, *options) as exporter:
        sessions.begin(('holder',))
        page = wait_for_page(exporter, lambda page: page[LONGEST.format('transaction')] > 1, 'an old transaction')
        check(page[LONGEST.format('blocker')] == 0, 'nobody waits')
        began = time.monotonic()
        sessions.begin(('waiter',))
        page = wait_for_page(exporter, lambda page: page[LONGEST.format('blocker')] > 0, 'a blocker')
        check(page[LONGEST.format('blocker')] <= page.after - began, 'it has blocked since the other one waits')
        check(page[LONGEST.format('transaction')] > 1, 'its transaction is older')


def test_hidden_sessions_are_counted_and_have_no_age(camp, source, *options):
    with Sessions(('holder', 'waiter')), exporter_of(camp, source, *options) as exporter:
        page = Page(exporter)
        check(page['camp_sessions_hidden'] >= 2, 'hidden')
        check(not any(key.startswith('camp_session_longest') for key in page), 'an age that is not known')
        check('holder' not in page.text, 'the name of a hidden application')
        check(page.total('camp_session_losses_total') == 0, 'hidden sessions are not lost')


def test_hidden_sessions_have_no_age(camp, source, *options):
    """A user of MariaDB does not even see how many sessions of others there are."""
    with Sessions(('holder', 'waiter')), exporter_of(camp, source, *options) as exporter:
        page = Page(exporter)
        check('camp_sessions_hidden' not in page, 'a number of hidden sessions')
        check(not any(key.startswith('camp_session_longest') for key in page), 'an age that is not known')
        check('holder' not in page.text, 'the name of a hidden user')


def test_hostile_names_are_escaped(camp, source, *options):
    names = ['a"b\\c', '} 1\tcamp_x 7', 'other', 'x{y="z"} 1', '{{$value}}']
    sessions = [SERVER.start(name.replace('\\', '\\\\').replace("'", "\\'")) for name in names]
    try:
        for session, name in zip(sessions, names):
            session.stdin.write('select 1;\n')
            session.stdin.flush()
        wanted = [name.replace('other', 'other (0)').replace('\t', '?') for name in names]

        def seen():
            page = scraper.samples_of(scraper.openmetrics, exporter.page()[1])
            groups = {dict(labels)[SERVER.label] for name, labels in page if name == 'camp_session_seconds_total'}
            # From version 17 on, PostgreSQL writes a control character as \x09; camp escapes this backslash.
            plain = {group.replace('\\x5cx09', '?').replace('\\x09', '?') for group in groups}
            return set(wanted) <= plain

        with exporter_of(camp, source, *options) as exporter:
            scraper.wait_for(seen, f'{wanted}')
            page = Page(exporter)
            promtool = subprocess.run(['promtool', 'check', 'metrics'], text=True, check=False, input=page.text,
                                      capture_output=True)
            check(promtool.returncode == 0, promtool.stdout + promtool.stderr)
            check('camp_x' not in page, 'a made sample')
            page.check_sums()
    finally:
        for session in sessions:
            session.kill()
            session.wait()


def test_names_that_change_have_few_series(camp, source, *options):
    """Sessions whose names are all different: series for 3 and 2 that replace others, and no time is lost."""
    names = set()
    with exporter_of(camp, source, '--groups', '3', '--new-groups', '2', *options) as exporter:
        for turn in range(4):
            sessions = [SERVER.start(f'name {turn} {number}') for number in range(4)]
            try:
                for session in sessions:
                    session.stdin.write(SERVER.burn + '\n')
                    session.stdin.flush()
                last = f'name {turn} 3'
                scraper.wait_for(lambda: SERVER.is_doing(last, SERVER.runs), last)
                for _ in range(3):
                    page = Page(exporter)
                    page.check_sums()
                    names |= set(re.findall(rf'camp_session_seconds_total{{{SERVER.label}="([^"]*)"', page.text))
                    time.sleep(0.3)
            finally:
                for session in sessions:
                    session.kill()
                    session.wait()
    check(len(names - {'other'}) <= 3 + 2, names)


def test_two_scrapers_take_turns(camp, source, *options):
    with Sessions(('idle', 'burner')), exporter_of(camp, source, *options) as exporter:
        first, before = Page(exporter), {}
        for turn in range(10):
            page = Page(exporter)
            page.check_sums()
            for other in before.values():
                check_growth(other, page)
            before[turn % 2] = page
            time.sleep(0.3 * (turn % 2))
        spread = first.seconds() + page.seconds()
        clock = page['camp_session_clock_seconds_total'] - first['camp_session_clock_seconds_total']
        elapsed = page.group(SERVER.label, 'idle') - first.group(SERVER.label, 'idle')
        check(abs(elapsed - clock) <= spread, f'{elapsed} of {clock}')


def wait_for_page(exporter, holds, what):
    """Waits until a page has this, and returns it."""
    found = []

    def is_so():
        found[:] = [Page(exporter)]
        return holds(found[0])

    scraper.wait_for(is_so, what)
    return found[0]


def test_a_server_that_is_away_is_down_and_comes_back(camp, source, *options):
    """The commands of the environment stop the server, and start it again."""
    def run(what):
        subprocess.run(['bash', '-c', os.environ[what]], check=True, stdin=subprocess.DEVNULL)

    with exporter_of(camp, source, *options) as exporter:
        with Sessions(('idle',)):
            up = wait_for_page(exporter, lambda page: page.group(SERVER.label, 'idle') > 1, 'a second of idle time')
            check(up['camp_server_up'] == 1, 'it is up')
            run('STOP')
            down = wait_for_page(exporter, lambda page: page['camp_server_up'] == 0, 'it is down')
            check(not any(key.startswith(('camp_sessions', 'camp_session_longest')) for key in down), 'an old gauge')
            check_growth(up, down)
            away = wait_for_page(exporter, lambda page: page['camp_server_unanswered_seconds_total'] >
                                 down['camp_server_unanswered_seconds_total'], 'its absence is counted')
            check_growth(down, away)
            run('START')
            back = wait_for_page(exporter, lambda page: page['camp_server_up'] == 1, 'it is back')
            check_growth(away, back)
        with Sessions(('idle',)):
            last = wait_for_page(exporter, lambda page: page.group(SERVER.label, 'idle') >
                                 back.group(SERVER.label, 'idle') + 1, 'it counts again')
            check_growth(back, last)
            last.check_sums()


if __name__ == '__main__':
    globals()['test_' + sys.argv[2]](sys.argv[1], *sys.argv[3:])
