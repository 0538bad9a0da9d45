"""Where names come from: makes files, processes, control groups and servers with nasty names, and the
commands that show them, for names.py."""

import contextlib
import os
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import threading

KINDS = {
    'plain': b'plain name',
    'colour': b'a\x1b[31mred',
    'title': b'a\x1b]0;owned\x07b',
    'reply': b'a\x1b[6n\x1b[c',
    'c0': b'a\x01\x08\x7fb',
    'line feed': b'a\ncamp: b',
    'return': b'a\rcamp: b',
    'tab': b'a\tb',
    'c1': 'a\u009b31m\u0085b'.encode(),
    'raw c1': b'a\x9b31m\x9d',
    'override': 'a\u202egpj.b'.encode(),
    'isolate': 'a\u2066\u200f\u061cb'.encode(),
    'separator': 'a\u2028b\u2029'.encode(),
    'invisible': 'a\u200b\ufeff\u2060b'.encode(),
    'tags': 'a\U000e0041\U000e007fb'.encode(),
    'invalid': b'a\xff\xfe\xc3(',
    'overlong': b'a\xc0\x9b\xe0\x82\x9b',
    'surrogate': b'a\xed\xa0\x80b',
    'quote': b'a"b\\c',
    'separators': b"a,b;c'd",
    'formula': b'=1+1',
    'at': b'@SUM(1)',
    'minus': b'-1+cmd',
    'apostrophe': b"'=1",
    'script': b'<script>x',
    'entity': b'&lt;b&#0;',
    'emoji': 'a😀b'.encode(),
    'joined': 'a\U0001f469\u200d\U0001f52c'.encode(),
    'accents': 'e\u0301\u0337'.encode(),
    'format': b'a%s%n%d',
    'long': b'long ' + b'x' * 2000,
}
FILE_NAME, COMM = 100, 15  # the most bytes of these names
SHOWN = 60  # at least so many bytes of each name are shown in all formats but text
FORMATS = ('text', 'json', 'csv')


class Case:
    """One run of camp, and what it must show: `wanted` are names by kind."""

    def __init__(self, place, kind, words, form='text', **more):
        self.place, self.kind, self.form = place, kind, form
        self.words = [word.encode() if isinstance(word, str) else word for word in words]
        self.folder = more.get('folder')
        self.wanted = more.get('wanted', {})
        self.output = more.get('output')  # a file that is read in place of stdout
        self.statuses = more.get('statuses', (0,))
        self.combinations = more.get('combinations', 1)


def quoted(field):
    return b'"' + field.replace(b'"', b'""') + b'"'


class Carriers:
    """Makes what carries the names in a folder, until the end of a with block."""

    def __init__(self, folder):
        self.folder, self.stack = folder, contextlib.ExitStack()
        self.processes, self.servers = [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.send_signal(signal.SIGKILL)
            process.wait()
        for server in self.servers:
            server.close()
        self.stack.close()

    def path(self, name):
        return os.path.join(self.folder, name)

    def all_formats(self, place, kind, words, wanted=None, **more):
        """The formats of a record. Text does not show all bytes of a name."""
        for form in FORMATS:
            yield Case(place, kind, words + ['--format', form], form, folder=self.folder,
                       wanted=wanted or {} if form != 'text' else {}, **more)

    def cases(self):
        os.mkdir(self.path('names'))
        for part in (self.arguments, self.files, self.table, self.headings, self.query, self.recordings,
                     self.labels, self.server_errors, self.of_processes, self.cgroups):
            yield from part()

    def arguments(self):
        """A name as an option, operand and source. Each kind is with a few of the commands."""
        commands = ('check', 'top', 'time', 'wait', 'why', 'view', 'export', 'record', 'report', 'compare', 'get', 'list',
                    'doctor', 'load', 'verify', 'probe', 'explain')
        for number, (kind, name) in enumerate(KINDS.items()):
            for command in commands[number % 5::5]:
                yield Case('an option', kind, [command, b'--' + name], statuses=(2,))
                # camp time starts a session of microstates before it starts the program.
                if command != 'time' or number < 9:
                    yield Case('an operand', kind, [command, b'./' + name], statuses=(1, 2, 3, 126, 127),
                               folder=self.folder)
            for command in ('check', 'top', 'view', 'record', 'report', 'explain')[number % 6::6]:
                yield Case('a source', kind, [command, '--from', name], statuses=(1, 2))
                yield Case('a missing file', kind, [command, '--from', b'no/' + name + b'.csv'],
                           statuses=(1, 2), folder=self.folder)
            yield Case('a command', kind, [name], statuses=(2,))

    def files(self):
        """A name as that of a table, a recording, a page and a picture."""
        for kind, name in KINDS.items():
            name = name[:FILE_NAME]
            table = os.path.join(b'names', name + b'.csv')
            with open(os.path.join(self.folder.encode(), table), 'wb') as file:
                file.write(b'time,entity,run_ms,disk_ms,idle_ms\n2026-01-01 00:00:01,a,5,2,1\n'
                           b'2026-01-01 00:00:02,a,5,2,1\n')
            yield from self.all_formats('a table\'s file', kind, ['top', '--from', table], {kind: name})
            for command, ending in (('record', b'.camp'), ('report', b'.html')):
                yield Case(f'{command}\'s output', kind,
                           [command, '--from', table, '--output', os.path.join(b'names', name + ending)],
                           folder=self.folder)
            picture = os.path.join(b'names', name + b'.svg')
            yield Case('a picture\'s title', kind,
                       ['report', '--from', table, '--picture', 'lines', '--output', picture], 'svg',
                       folder=self.folder, output=os.path.join(self.folder.encode(), picture))

    def shown(self, place, words, wanted):
        """A source of all names, as rows, pages and pictures."""
        yield from self.all_formats(place, 'all', ['top', '--top', '0'] + words, wanted,
                                    combinations=len(KINDS))
        for form, more in (('html', []), ('svg', ['--picture', 'lines']), ('svg', ['--picture', 'barry3']),
                           ('svg', ['--picture', 'ranking']), ('svg', ['--picture', 'ribbon'])):
            output = self.path(f'{place}-{len(more)}{more[-1:]}.{form}')
            yield Case(place, 'all', ['report'] + words + more + ['--output', output], form,
                       folder=self.folder, output=output, combinations=len(KINDS))

    def table(self):
        """Names as entities of a table. The blanks around a field are not a part of it."""
        with open(self.path('entities.csv'), 'wb') as file:
            file.write(b'time,entity,run_ms,disk_ms,idle_ms\n')
            for time in (b'1', b'2'):
                for name in KINDS.values():
                    # A foreign table has apostrophes only where camp, or a spreadsheet, wrote them.
                    mark = b"'" if name[:1] == b"'" else b''
                    file.write(b'2026-01-01 00:00:0%s,%s,5,2,1\n' % (time, quoted(mark + name)))
        wanted = {kind: name[:SHOWN] for kind, name in KINDS.items()}
        yield from self.shown('an entity of a table', ['--from', 'entities.csv'], wanted)
        # Two intervals are too few for a verdict.
        compared = ['compare', '--at-least', '0', '--top', '0', 'entities.csv', 'entities.csv']
        yield from self.all_formats('an entity of a comparison', 'all', compared, wanted,
                                    combinations=len(KINDS), statuses=(3,))
        output = self.path('compared.svg')
        yield Case('an entity of a comparison', 'all', compared + ['--picture', 'barry3', '--output', output], 'svg',
                   folder=self.folder, output=output, combinations=len(KINDS), statuses=(3,))

    def headings(self):
        """Names as headings of a table, of states and of ignored columns."""
        with open(self.path('headings.csv'), 'wb') as file:
            file.write(b'time,entity,' + b','.join(
                quoted(name + end) for name in KINDS.values() for end in (b' run_ms', b' text')) + b'\n')
            for time in (b'1', b'2'):
                file.write(b'2026-01-01 00:00:0%s,a' % time + b',1,x' * len(KINDS) + b'\n')
        yield from self.shown('a heading of a table', ['--from', 'headings.csv'], {})

    def query(self):
        """Names as entities and columns of SQLite."""
        with contextlib.closing(sqlite3.connect(self.path('names.db'))) as file:
            file.execute('CREATE TABLE t(time, entity, run_ms, disk_ms, idle_ms)')
            file.executemany('INSERT INTO t VALUES(?, CAST(? AS TEXT), 5, 2, 1)', [
                (f'2026-01-01 00:00:0{time}', name) for time in (1, 2) for name in KINDS.values()])
            file.commit()
        yield from self.shown('an entity of SQLite',
                              ['--from', 'sqlite:names.db', '--query', 'SELECT * FROM t'],
                              {kind: name[:SHOWN] for kind, name in KINDS.items()})
        for kind, name in KINDS.items():
            column = b'"' + name.replace(b'"', b'""') + b' run_ms"'
            yield from self.all_formats('a column of SQLite', kind, [
                'top', '--from', 'sqlite:names.db', '--query',
                b'SELECT time, \'a\' AS entity, 5 AS ' + column + b' FROM t LIMIT 1'], statuses=(0, 1, 2))
            yield Case('an error of SQLite', kind, ['top', '--from', 'sqlite:names.db', '--query',
                                                    b'SELECT ' + column + b'('], statuses=(1, 2),
                       folder=self.folder)

    def changed_recording(self, good, kind, sql):
        """Copies a recording, and puts a name into it by statements with one parameter each."""
        path = self.path(f'{kind.replace(" ", "-")}-{os.path.basename(good)}')
        shutil.copy(good, path)
        with contextlib.closing(sqlite3.connect(path)) as file:
            for statement in sql:
                file.execute(statement, [KINDS[kind][:400]])
            file.commit()
        return path

    def make_recording(self, name):
        subprocess.run([os.environ['CAMP'], 'record', '--from', 'entities.csv', '--output', name],
                       cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        return self.path(name)

    def recordings(self):
        """Names as facts, notes, columns and entities of a recording."""
        good = self.make_recording('good.camp')
        yield from self.shown('an entity of a recording', ['--from', good],
                              {kind: name[:SHOWN] for kind, name in KINDS.items()})
        for kind in KINDS:
            facts = [f"UPDATE camp SET value = CAST(? AS TEXT) WHERE key = '{key}'"
                     for key in ('host', 'kernel', 'source', 'tier', 'note', 'version')]
            path = self.changed_recording(good, kind, facts + [
                'INSERT INTO note VALUES(1, CAST(? AS TEXT))',
                'UPDATE column_info SET title = CAST(? AS TEXT) WHERE position = 0',
                'UPDATE column_info SET help = CAST(? AS TEXT) WHERE position = 1',
                "UPDATE column_info SET name = CAST(? AS TEXT) || '_ns' WHERE position = 2"])
            yield from self.all_formats('a fact of a recording', kind, ['record', '--info', path])
            yield from self.all_formats('a column of a recording', kind, ['top', '--from', path])
            for form, more in (('html', []), ('svg', ['--picture', 'stack'])):
                output = f'{path}.{form}'
                yield Case('a column of a recording', kind,
                           ['report', '--from', path, '--output', output] + more, form, output=output)
            yield Case('a column of a recording', kind, ['record', '--from', path, '--output',
                                                         f'{path}-again.camp'])

    def labels(self):
        """Names as labels, and as names of labels."""
        path = self.make_recording('labels.camp')
        with contextlib.closing(sqlite3.connect(path)) as file:
            file.executescript(
                'CREATE TABLE label(entity INTEGER NOT NULL, name TEXT NOT NULL, since_tick INTEGER NOT NULL,'
                ' value TEXT NOT NULL, PRIMARY KEY(entity, name, since_tick)) STRICT, WITHOUT ROWID;'
                'CREATE TABLE label_name(table_name TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT'
                ' NULL, PRIMARY KEY(table_name, position)) STRICT, WITHOUT ROWID;')
            file.executemany('INSERT INTO label VALUES(?, CAST(? AS TEXT), 1, CAST(? AS TEXT))', [
                (1 + i, 'user', name) for i, name in enumerate(KINDS.values())])
            file.execute("INSERT INTO label_name VALUES('table', 0, 'user')")
            file.commit()
        wanted = {kind: name[:SHOWN] for kind, name in KINDS.items()}
        yield from self.shown('a label', ['--from', path], wanted)
        yield from self.shown('a group by a label', ['--from', path, '--group', 'user'], wanted)
        for kind in KINDS:
            sql = ['UPDATE label_name SET name = CAST(? AS TEXT)', 'UPDATE label SET name = CAST(? AS TEXT)']
            named = self.changed_recording(path, kind, sql)
            yield from self.all_formats('a label\'s name', kind, ['top', '--from', named],
                                        statuses=(0, 1, 2))
            yield Case('a label\'s name', kind, ['top', '--from', named, '--group', 'x'], statuses=(1, 2))

    def serve(self, path, answer):
        """A server on a socket that gives each connection one answer."""
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen(64)
        self.servers.append(server)

        def talk(connection):
            with contextlib.suppress(OSError), connection:
                connection.settimeout(10)
                answer(connection)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()

    def server_errors(self):
        """Names as the message of a server that refuses."""
        def postgres(name):
            text = b'SFATAL\0VFATAL\0C28000\0M' + name + b'\0\0'

            def answer(connection):
                connection.recv(4096)
                connection.sendall(b'E' + struct.pack('>I', len(text) + 4) + text)
            return answer

        def mariadb(name):
            text = b'\xff' + struct.pack('<H', 1130) + name

            def answer(connection):
                connection.sendall(struct.pack('<I', len(text)) + text)
            return answer

        def prometheus(name):
            text = (b'{"status":"error","errorType":"x","error":"' + b''.join(
                b'\\u%04x' % each if each < 32 or each in b'"\\' else bytes([each]) for each in name) + b'"}')

            def answer(connection):
                connection.recv(65536)
                connection.sendall(b'HTTP/1.1 400 x\r\nContent-Length: %d\r\n\r\n' % len(text) + text)
            return answer

        for number, (kind, name) in enumerate(KINDS.items()):
            os.mkdir(self.path(f'p{number}'))
            self.serve(self.path(f'p{number}/.s.PGSQL.5432'), postgres(name[:400]))
            self.serve(self.path(f'm{number}'), mariadb(name[:400]))
            self.serve(self.path(f'h{number}'), prometheus(name[:400]))
            for command in ('top', 'check') if number % 8 == 0 else ('top',):
                for place, source in (
                        ('PostgreSQL', f'postgres:host={self.path(f"p{number}")} user=x dbname=y'),
                        ('MariaDB', f'mariadb:socket={self.path(f"m{number}")}'),
                        ('Prometheus', f'prometheus:unix:{self.path(f"h{number}")}')):
                    yield Case(f'an error of {place}', kind, [command, '--from', source, '--count', '1'],
                               statuses=(1, 2, 4))

    def start_processes(self):
        """A process of each name, by a link to sleep(1) with that name. Returns the names."""
        names = {kind: name[:COMM] for kind, name in KINDS.items() if kind != 'long'}
        os.mkdir(self.path('run'))
        for name in names.values():
            link = os.path.join(self.folder.encode(), b'run', name)
            os.symlink('/bin/sleep', link)
            self.processes.append(subprocess.Popen([name, '600'], executable=link,
                                                   stdin=subprocess.DEVNULL))
        code = ('import sys, threading, time\n'
                'def rest(name):\n'
                '    with open("/proc/thread-self/comm", "wb") as file: file.write(name)\n'
                '    time.sleep(600)\n'
                'for name in sys.argv[1:]:\n'
                '    threading.Thread(target=rest, args=(bytes.fromhex(name),)).start()\n'
                'while any(open(f"/proc/self/task/{each.native_id}/comm", "rb").read() == b"python3\\n"\n'
                '          for each in threading.enumerate()[1:]): time.sleep(0.01)\n'
                'print(flush=True)\n')
        threads = subprocess.Popen(['/usr/bin/python3', '-c', code] +
                                   [name.hex() for name in names.values()], stdout=subprocess.PIPE)
        self.processes.append(threads)
        threads.stdout.readline()
        for process, name in zip(self.processes, names.values()):
            while True:
                with open(f'/proc/{process.pid}/comm', 'rb') as file:
                    if file.read() == name + b'\n':
                        break
        return names

    def of_processes(self):
        """Names of processes and of threads, by each command that measures them."""
        names = self.start_processes()
        short = ['--interval', '50ms', '--count', '1']
        commands = {
            'a process': [['top', '--top', '0', '--group', 'process'] + short,
                          ['top', '--from', 'processes', '--top', '0'] + short,
                          ['check', '--tier', 'schedstat', '--top', '0'] + short,
                          ['list', 'processes', '--long'],
                          ['get'] + [f'process.{each.pid}.name' for each in self.processes[:-1]]],
            'a command': [['top', '--top', '0', '--group', 'command'] + short],
            'a name of the ledger': [['top', '--why', '--top', '0'] + short],
            'a thread': [['top', '--top', '0', '--group', 'thread', '--pid', str(self.processes[-1].pid)] + short,
                         ['list', 'threads', '--pid', str(self.processes[-1].pid), '--long']],
        }
        for place, lines in commands.items():
            for words in lines:
                for form in FORMATS:
                    # camp check has no rows of processes that used no CPU time.
                    # The ledger tells 53 names apart, of threads that have run.
                    shows = form != 'text' and words[0] != 'check' and '--why' not in words
                    yield Case(place, 'all', words + ['--format', form], form,
                               statuses=(0, 4) if '--why' in words else (0, 3), wanted=names if shows else {}, combinations=len(names))
        yield Case('a process', 'all', commands['a process'][-1] + ['--value'], combinations=len(names))
        for form in ('prometheus', 'openmetrics'):
            yield Case('a command', 'all', ['export', '--once', '--groups', '1000', '--interval', '50ms',
                                            '--format', form], form, statuses=(0, 3),
                       wanted=names, combinations=len(names))
            yield Case('a name of the ledger', 'all', ['export', '--once', '--why', '--interval', '50ms',
                                                       '--format', form], form, statuses=(0, 4),
                       combinations=len(names))
        for form in FORMATS:
            yield Case('a process', 'colour', ['time', '--duration', '50ms', '--format', form, '--pid',
                                               str(self.processes[1].pid)], form, statuses=(0, 1, 3, 4))
        output = self.path('threads.html')
        yield Case('a thread', 'all', ['report', '--interval', '50ms', '--count', '2', '--output', output],
                   'html', output=output, statuses=(0, 3), combinations=len(names))

    def cgroups(self):
        """Names of control groups, where this user may make some. A name has no line feed."""
        names = {kind: name for kind, name in KINDS.items() if kind != 'long' and b'\n' not in name}
        # Of version 2 and, where it has the CPU controller, of version 1: camp shows one of them.
        for root in ('/sys/fs/cgroup', '/sys/fs/cgroup/unified', '/sys/fs/cgroup/cpu'):
            if not os.path.exists(f'{root}/cgroup.procs'):
                continue
            top = os.path.join(root, f'camp-names-{os.getpid()}').encode()
            try:
                os.mkdir(top)
            except OSError as error:
                print(f'without control groups: {error}')
                return
            self.stack.callback(os.rmdir, top)
            for number, name in enumerate(names.values()):
                os.mkdir(os.path.join(top, name))
                self.stack.callback(os.rmdir, os.path.join(top, name))
                with open(os.path.join(top, name, b'cgroup.procs'), 'wb') as file:
                    file.write(b'%d' % self.processes[number].pid)
        for form in FORMATS:
            yield Case('a cgroup', 'all', ['top', '--group', 'cgroup', '--top', '0', '--interval', '50ms',
                                           '--count', '1', '--format', form], form, statuses=(0, 3),
                       wanted={} if form == 'text' else names, combinations=len(names))
        yield Case('a cgroup', 'all', ['export', '--once', '--group', 'cgroup', '--groups', '1000',
                                       '--interval', '50ms'], 'prometheus', statuses=(0, 3),
                   wanted=names, combinations=len(names))
