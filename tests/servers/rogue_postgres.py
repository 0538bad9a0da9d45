#!/usr/bin/env python3
"""tests/servers/rogue_postgres.py [WORD...]: attacks of a rogue PostgreSQL server on camp, and a table of what came of
them (rogue.py). The words are groups of attacks or parts of their names."""
import struct

from rogue import NASTY, PASSWORD, Attack, Driver, answering, camp, certificate, environment_of
from rogue_postgres_server import (
    BOUND, COLUMNS, DONE, INT8, LOGGED_IN, OWN_PID, QUERIES, READY, TEXT, WHOLE, Postgres, Remote, array_of, columns_of,
    error_of, fields_of, many_rows, message, parameter_of, row_of)

PROMISE_S = 5 + 5 * 2  # connecting, and five answers; docs/sessions.md
NASTY_TEXT = NASTY.replace(b'\0', b'')

ATTACKS = []


def attack(group, name, server, **options):
    options.setdefault('promise_s', PROMISE_S)
    ATTACKS.append(Attack(group, name, lambda peer: server(peer).serve(), **options))


def overridden(base=Postgres, **members):
    return type('Rogue', (base,), members)


def at(kind, answer, base=Postgres):
    return answering(kind, answer, base)


KINDS = ('set', 'prepare', 'brief', 'whole')
SNAPSHOTS = ('brief', 'whole')


def each(group, name, answer, kinds=KINDS, base=Postgres, **options):
    """An answer that a source needs before it is open ends camp; snapshots are notes in the frames."""
    for kind in kinds:
        attack(group, f'{name}: {kind}', at(kind, lambda self, kind=kind: answer(self, kind), base),
               **{'status': (0,) if kind in SNAPSHOTS else (1,), **options})


# Before the login.
def greeted(name, data, **options):
    attack('greeting', name, overridden(greet=lambda self: (self.read_startup(), self.peer.send(data)),
                                        authenticate=lambda self: None, begin=lambda self: None), **options)


greeted('nothing', b'')
greeted('half a header', b'R\x00')
greeted('zeros', bytes(300))
greeted('a message of 2 GB', b'R\x7f\xff\xff\xff' + bytes(4000))
greeted('an error of 2 GB', b'E\x7f\xff\xff\xff' + bytes(4000))
greeted('a negative length', b'R\xff\xff\xff\xff' + bytes(4000))
greeted('an error of protocol 2', b'E' + NASTY_TEXT + b'\0', says='PostgreSQL: ')
greeted('an error with escapes', error_of(b'53300', NASTY_TEXT * 9), says='PostgreSQL: ')
greeted('an error with escapes in its state', error_of(b'\x1b[2J\x07', NASTY_TEXT), says='PostgreSQL: ')
greeted('an error without fields', message(b'E', b'\0'))
greeted('an error that does not end', message(b'E', b'SFATAL\0C28000\0M' + b'A' * 400), status=(1, 4))
greeted('a negotiation of versions', message(b'v', struct.pack('>II', 0, 1) + b'_pq_.evil\0'))
attack('greeting', 'a message without end', overridden(greet=lambda self: (
    self.read_startup(), self.peer.send(b'E\x3f\xff\xff\xffSFATAL\0'), self.peer.fill(1 << 30))))


# Authentication.
def asking(code, data=b'', then=LOGGED_IN):
    def authenticate(self):
        self.send(message(b'R', struct.pack('>I', code) + data))
        self.read()
        self.send(then)
    return overridden(authenticate=authenticate)


for name, code, data in (('Kerberos 5', 2, b''), ('md5 without salt', 5, b''), ('SCM', 6, b''), ('GSSAPI', 7, b''),
                         ('SSPI', 9, b''), ('SASL without methods', 10, b'\0'), ('SASL with escapes', 10, NASTY_TEXT + b'\0\0'),
                         ('SASL without an end', 10, b'A' * 300), ('SASL going on', 11, b'x'), ('SASL ending', 12, b'v=x'),
                         ('method 99', 99, b''), ('crypt', 4, b'ab')):
    attack('login', name, asking(code, data), status=(0, 1, 4))
# By a Unix socket or a loopback address a server may ask for the password itself (LDAP, PAM).
attack('login', 'the password, here', asking(3), status=(0,), may_know=True)
attack('login', 'the password, here by TCP', asking(3), status=(0,), may_know=True, host='127.0.0.1')
attack('login', 'the password, and camp has none', asking(3), password='', status=(4,), says='asks for a password')
attack('login', 'md5', asking(5, b'salt'), status=(0,))
for name, data in (('garbage', b'garbage'), ('escapes', NASTY_TEXT), ('of 10^9 rounds', b'r=%s,s=c2FsdA==,i=1000000000'),
                   ('of another nonce', b'r=evil,s=c2FsdA==,i=4096'), ('of no salt', b'r=%s,s=,i=1')):
    def scram(self, data=data):
        self.send(message(b'R', struct.pack('>I', 10) + b'SCRAM-SHA-256\0\0'))
        _, first = self.read()
        nonce = first[first.index(b'r=') + 2:] + b'more'
        self.send(message(b'R', struct.pack('>I', 11) + data.replace(b'%s', nonce)))
        self.read()
        self.send(message(b'R', struct.pack('>I', 12) + b'v=' + NASTY_TEXT), LOGGED_IN)
    attack('login', f'SCRAM {name}', overridden(authenticate=scram), status=(1, 4))
attack('login', 'refused with escapes', overridden(authenticate=lambda self: self.send(
    error_of(b'28P01', b'refused' + NASTY_TEXT, b'FATAL'))), status=(4,), says='refused')
for number in (b'', b'9', b'9.6.1', b'99999999999999999999', b'-1', NASTY_TEXT, b'A' * 400):
    attack('login', f'version {number[:12]}'.replace('\\', '/'), overridden(version=number), status=(0, 1))


def begin_with(*messages):
    return overridden(begin=lambda self: (self.send(*messages), Postgres.begin(self)))


attack('login', 'parameters with escapes', begin_with(parameter_of(NASTY_TEXT, NASTY_TEXT)), status=(0, 1))
attack('login', 'another encoding', begin_with(parameter_of(b'client_encoding', b'SJIS')), status=(0, 1))
attack('login', 'a parameter that does not end', begin_with(message(b'S', b'A' * 30)), status=(0, 1))
attack('login', 'notices with escapes', begin_with(*[error_of(b'01000', NASTY_TEXT, kind=b'N')] * 20), status=(0,))
attack('login', 'notifications', begin_with(
    *[message(b'A', struct.pack('>I', 1) + b'evil\0' + NASTY_TEXT + b'\0')] * 20), status=(0,))
attack('login', 'no key', overridden(begin=lambda self: self.send(
    parameter_of(b'server_version', b'15.18'), READY)), status=(0, 1))
attack('login', 'ready in a failed transaction', overridden(begin=lambda self: (
    self.send(parameter_of(b'server_version', b'15.18'), message(b'Z', b'E')))), status=(0, 1))
attack('login', 'rows before it is ready', begin_with(*Postgres.head(None, 'brief'), DONE), status=(0, 1))


# The shape of an answer.
def answer_of(types, rows, binary=1):
    return [BOUND, columns_of(types, binary=binary), *rows, DONE, READY]


for count in (0, 1, 9, 12, 17, 19, 1600, 60000):
    each('columns', f'{count} columns', lambda self, kind, count=count: self.send(*answer_of(
        (TEXT,) * count, [row_of([b'A' * 4] * count)])), kinds=SNAPSHOTS, says='' if count > 999 else 'columns')
each('columns', 'none, and no rows', lambda self, kind: self.send(BOUND, message(b'n'), DONE, READY), kinds=SNAPSHOTS,
     says='columns')
each('columns', 'of the other snapshot', lambda self, kind: Postgres.answer(
    self, 'brief' if kind == 'whole' else 'whole'), kinds=SNAPSHOTS, says='columns')
each('columns', 'all are texts', lambda self, kind: self.send(*answer_of(
    (TEXT,) * len(COLUMNS[kind]), [row_of(self.values(kind))])), kinds=SNAPSHOTS, says='columns')
each('columns', 'all are numbers', lambda self, kind: self.send(*answer_of(
    (INT8,) * len(COLUMNS[kind]), [row_of([bytes(8)] * len(COLUMNS[kind]))])), kinds=SNAPSHOTS, says='columns')
each('columns', 'as text', lambda self, kind: self.send(*answer_of(
    COLUMNS[kind], [row_of(self.values(kind))], binary=0)), kinds=SNAPSHOTS, says='columns')
each('columns', 'described twice', lambda self, kind: self.send(
    *self.head(kind), row_of(self.values(kind)), columns_of((TEXT,) * 3), row_of([b'A'] * 3), DONE, READY), status=(0, 1),
    kinds=('set', *SNAPSHOTS))
each('columns', 'more than the message has', lambda self, kind: self.send(BOUND, message(
    b'T', struct.pack('>H', 999) + b'c\0' + bytes(18)), DONE, READY), status=(0, 1))
each('columns', 'rows without columns', lambda self, kind: self.send(
    BOUND, row_of(self.values('brief')), DONE, READY), status=(0, 1))


def rows_attack(name, rows, kinds=SNAPSHOTS, **options):
    each('rows', name, lambda self, kind: self.send(*self.head(kind), *rows(self, kind), DONE, READY), kinds=kinds,
         **options)


rows_attack('none', lambda self, kind: [], kinds=('set', *SNAPSHOTS), status=(0,))
rows_attack('not of camp itself', lambda self, kind: [row_of(self.values(kind, 1))])
rows_attack('NULL everywhere', lambda self, kind: [row_of([None] * len(COLUMNS[kind]))])
rows_attack('empty everywhere', lambda self, kind: [row_of([b''] * len(COLUMNS[kind]))])
for column, value in enumerate(WHOLE):
    def changed(self, kind, value, column=column):
        values = self.values(kind, 1)
        return row_of(values[:column] + [value] + values[column + 1:]) if column < len(values) else row_of(values)
    for name, wrong in (('NULL', None), ('empty', b''), ('1 MB', b'A' * 1000000), ('9 bytes', b'\xff' * 9),
                        ('lowest', b'\x80' + bytes(7)), ('highest', b'\x7f' + b'\xff' * 7)):
        rows_attack(f'column {column} is {name}', lambda self, kind, wrong=wrong, changed=changed: [
            row_of(self.values(kind)), changed(self, kind, wrong)], kinds=('whole',))
for name, pid in (('0', 0), ('-1', -1), ('1', 1), ('-2^31', -1 << 31)):
    rows_attack(f'pid {name}', lambda self, kind, pid=pid: [
        row_of(fields_of(COLUMNS[kind], [pid, number == 0])[:2] + self.values(kind, 1)[2:]) for number in (0, 1)])
for name, moment in (('2^62', 1 << 62), ('-2^62', -1 << 62), ('of the year 9999', 252455615999000000)):
    rows_attack(f'times {name}', lambda self, kind, moment=moment: [
        row_of([struct.pack('>q', moment) if size == 1184 else value
                for size, value in zip(COLUMNS[kind], self.values(kind, number))]) for number in (0, 1)])
for name, wrong in (('33 blockers', array_of(range(1, 34))), ('no pid', array_of([-1])), ('two dimensions', b'\0\0\0\2' + array_of([1])[4:]),
                    ('more than it has', array_of([1, 2])[:-8]), ('2^31 blockers', array_of([1])[:12] + b'\x7f\xff\xff\xff\0\0\0\1'),
                    ('NULL in it', array_of([1])[:-8] + b'\xff\xff\xff\xff'), ('texts', array_of([])[:8] + b'\0\0\0\31')):
    rows_attack(f'blockers: {name}', lambda self, kind, wrong=wrong: [row_of(self.values(kind)), row_of(
        [*self.values(kind, 1)[:11], wrong, *self.values(kind, 1)[12:]])])
rows_attack('each blocks each other', lambda self, kind: [row_of(self.values(kind))] + [row_of(
    [*self.values(kind, n)[:11], array_of([OWN_PID + 1 + (n + other) % 2000 for other in range(32)]), *self.values(kind, n)[12:]])
    for n in range(1, 2000)], status=(0,))
rows_attack('the same session 1000 times', lambda self, kind: [row_of(self.values(kind, n != 0)) for n in range(1000)])
rows_attack('camp itself 1000 times', lambda self, kind: [row_of(self.values(kind))] * 1000)
rows_attack('fewer fields than columns', lambda self, kind: [row_of(self.values(kind)[:-1])], kinds=('set', *SNAPSHOTS),
            status=(0, 1))
rows_attack('more fields than columns', lambda self, kind: [row_of(self.values(kind) + [b'x'])], kinds=('set', *SNAPSHOTS),
            status=(0, 1))
rows_attack('65535 fields', lambda self, kind: [message(b'D', b'\xff\xff' + b'\xff' * 4000)], kinds=('set', *SNAPSHOTS),
            status=(0, 1))
rows_attack('a field past the message', lambda self, kind: [message(b'D', struct.pack(
    '>HI', len(COLUMNS[kind]), 0x7fffffff) + b'A' * 40)], kinds=('set', *SNAPSHOTS), status=(0, 1))
rows_attack('a negative length', lambda self, kind: [message(b'D', struct.pack(
    '>HI', len(COLUMNS[kind]), 0x80000000) + b'A' * 40)], kinds=('set', *SNAPSHOTS), status=(0, 1))
rows_attack('an error after a row', lambda self, kind: [
    row_of(self.values(kind)), error_of(b'57014', NASTY_TEXT)], kinds=('set', *SNAPSHOTS), status=(0, 1))
rows_attack('a second answer', lambda self, kind: [row_of(self.values(kind)), DONE, *self.head('brief'),
                                                   row_of(self.values('brief'))], status=(0,))
each('rows', 'closed after a row', lambda self, kind: (
    self.send(*self.head(kind), row_of(self.values(kind))), self.peer.connection.close()), kinds=('set', *SNAPSHOTS),
    status=(0, 1))
# Messages that no statement of camp can have as an answer.
for name, wrong in (('copy out', message(b'H', b'\0\0\0')), ('copy in', message(b'G', b'\0\0\0')),
                    ('copy both', message(b'W', b'\0\0\0')), ('a copy with rows', message(b'H', b'\0\0\0') + message(b'd', NASTY)),
                    ('a result of a function', message(b'V', b'\0\0\0\1A')), ('a suspended portal', message(b's')),
                    ('an empty query', message(b'I')), ('an unknown message', message(b'?', NASTY)),
                    ('a message of -1 bytes', b'D\xff\xff\xff\xff'), ('an unknown message of 2 GB', b'?\x7f\xff\xff\xff'),
                    ('a login again', LOGGED_IN), ('ready', READY), ('ready twice', READY * 2)):
    each('rows', name, lambda self, kind, wrong=wrong: self.send(wrong, READY), status=(0, 1))


# Sizes.
def large_row(self, kind, size):
    values = self.values(kind)
    first, rest = row_of([b'']), row_of(values[1:])[7:]
    self.send(*self.head(kind), first[:1], struct.pack('>IHI', 10 + size + len(rest), len(values), size))
    self.peer.fill(size)
    self.send(rest, DONE, READY)


def many_sessions(self, kind):
    number = 1
    self.send(*self.head(kind))
    while not self.peer.ended.is_set():
        self.peer.send(b''.join(row_of(self.values(kind, number + n)) for n in range(500)))
        number += 500


def numbered(make):
    """Sends messages that are all different until camp ends."""
    def send(self, kind=None):
        number = 0
        if kind:
            self.send(BOUND)
        while not self.peer.ended.is_set():
            self.peer.send(b''.join(make(b'%x' % (number + n)) for n in range(1000)))
            number += 1000
    return send


each('sizes', 'rows without end', lambda self, kind: (
    self.send(*self.head(kind)), self.peer.endless(row_of(self.values(kind)))), kinds=('set', *SNAPSHOTS))
each('sizes', 'empty rows without end', lambda self, kind: (
    self.send(*self.head(kind)), self.peer.endless(row_of([None] * len(COLUMNS[kind])))), kinds=('set', *SNAPSHOTS))
each('sizes', 'rows of no columns without end', lambda self, kind: (
    self.send(BOUND, columns_of(())), self.peer.endless(row_of([]))), kinds=SNAPSHOTS)
each('sizes', 'other sessions without end', many_sessions, kinds=SNAPSHOTS)
each('sizes', 'a row of 15 MB', lambda self, kind: large_row(self, kind, 15 << 20), kinds=('set', *SNAPSHOTS),
     status=(0, 1))
each('sizes', 'a row of 300 MB', lambda self, kind: large_row(self, kind, 300 << 20), kinds=('set', *SNAPSHOTS))
each('sizes', 'columns of 300 MB', lambda self, kind: (
    self.send(b'T', struct.pack('>I', 300 << 20), b'\xff\xff'), self.peer.fill(300 << 20)), status=(0, 1))
each('sizes', 'an error of 300 MB', lambda self, kind: (
    self.send(b'E', struct.pack('>I', 300 << 20), b'M'), self.peer.fill(300 << 20)), status=(0, 1))
for name, flood in (('a notice', error_of(b'01000', NASTY_TEXT * 20, kind=b'N')),
                    ('the same parameter', parameter_of(b'TimeZone', b'UTC')),
                    ('a notification', message(b'A', struct.pack('>I', 1) + b'evil\0\0')),
                    ('an error', error_of(b'57014', NASTY_TEXT * 20)), ('an end', DONE), ('ready', READY),
                    ('an answer without columns', BOUND + message(b'n') + DONE)):
    each('sizes', f'{name}, without end', lambda self, kind, flood=flood: self.peer.endless(flood), status=(0, 1))
    attack('sizes', f'{name}, without end: login', overridden(begin=lambda self, flood=flood: self.peer.endless(flood)))
attack('sizes', 'parameters without end: login', overridden(begin=numbered(lambda name: parameter_of(name, b''))))
each('sizes', 'parameters without end', numbered(lambda name: parameter_of(name, b'')), kinds=('set', *SNAPSHOTS),
     status=(0, 1))


def parameters_between_rows(self, kind):
    """Sends half a MB of new parameters with each snapshot, which libpq keeps as long as the connection."""
    self.number = getattr(self, 'number', 0)
    self.send(*self.head(kind))
    for number in range(12):
        self.send(*(parameter_of(b'%x' % (self.number + n), b'') for n in range(2500)), row_of(self.values(kind, number)))
        self.number += 2500
    self.send(DONE, READY)


each('sizes', 'parameters between rows', parameters_between_rows, kinds=('brief',), status=(0,),
     command=('top', '--count', '6', '--interval', '500ms'))


MANY_BLOCKERS = array_of([OWN_PID + (other * 7919) % 10000 for other in range(1, 33)])


def full(self, kind, base=0):
    """An answer that is as large as permitted."""
    self.send(*self.head(kind))
    for first in range(0, 10000, 200):
        rows = []
        for number in range(first, first + 200):
            values = self.values(kind, number)
            values[0] = struct.pack('>i', OWN_PID + base + number)
            if number % 16 == 0:  # more would make this server slow
                values[11] = MANY_BLOCKERS
            if kind == 'whole':
                values[12:15] = [(b'%s%d' % (name, base + number)).ljust(63, b'x') for name in (b'user', b'base', b'app')]
                values[17] = (b'query %d' % number).ljust(500, b'q')
            rows.append(row_of(values))
        self.send(*rows)
    self.send(DONE, READY)


def full_of_others(self, kind):
    self.base = getattr(self, 'base', 0) + 10000
    full(self, kind, self.base)


LONG = ('top', '--count', '1', '--interval', '3s')
each('sizes', '10000 sessions with other texts', full, kinds=('whole',), says='9999 sessions', command=LONG)
attack('sizes', '10000 other sessions in each answer', overridden(
    answer=lambda self, kind: (full_of_others if kind in SNAPSHOTS else Postgres.answer)(self, kind)),
       status=(0,), says='more than 20000 sessions', command=('top', '--count', '2', '--interval', '8s'))


# Texts.
def nasty_values(self, kind):
    nasty = [NASTY if size in (TEXT, 19) else value for size, value in zip(COLUMNS[kind], self.values(kind, 1))]
    return [row_of(self.values(kind)), row_of(nasty)]


for options in ((), ('--format', 'csv'), ('--format', 'json'), ('--group', 'application')):
    rows = {'command': ('top', '--count', '1', '--interval', '200ms', *options)}
    rows_attack(f'escapes {" ".join(options)}', nasty_values, **rows, status=(0,))
    ATTACKS[-1].group = ATTACKS[-2].group = 'texts'
for state in (b'0A000', b'28P01', b'28000', b'42501', b'53300', b'57P01', b'57P03', b'57014', b'XX000', b'\x1b[2J\x07', b''):
    each('texts', f'error {state} with escapes'.replace('\\', '/'), lambda self, kind, state=state: self.send(
        error_of(state, NASTY_TEXT * 20, fields=b'D' + NASTY_TEXT + b'\0H' + NASTY_TEXT + b'\0'), READY), status=(0, 1, 4))
each('texts', 'an error without a text', lambda self, kind: self.send(message(b'E', b'SERROR\0C57014\0\0'), READY))
each('texts', 'notices with escapes', lambda self, kind: (self.send(
    *[error_of(b'01000', NASTY_TEXT, kind=b'N')] * 9), Postgres.answer(self, kind)), status=(0,))

# Stalls and drips.
for name, greet in (('before the greeting', lambda self: self.peer.stall()),
                    ('after the greeting', lambda self: (self.read_startup(), self.peer.stall())),
                    ('in a message', lambda self: (self.read_startup(), self.send(b'R\0\0\0\x08\0'), self.peer.stall())),
                    ('an error that drips', lambda self: (self.read_startup(), self.peer.drip(b'E\0\0\x70\0' + b'A' * 9000)))):
    attack('stalls', name, overridden(greet=greet), says='no answer', promise_s=5)
for name, code, data in (('clear', 3, b''), ('md5', 5, b'salt'), ('SASL', 10, b'SCRAM-SHA-256\0\0')):
    attack('stalls', f'after the password: {name}', overridden(authenticate=lambda self, code=code, data=data: (
        self.send(message(b'R', struct.pack('>I', code) + data)), self.read(), self.peer.stall())), says='no answer',
        promise_s=5, may_know=True)
attack('stalls', 'after the login', overridden(begin=lambda self: self.peer.stall()), says='no answer', promise_s=5)
attack('stalls', 'parameters that drip', overridden(begin=lambda self: self.peer.drip(parameter_of(b'TimeZone', b'UTC'))),
       says='no answer', promise_s=5)
each('stalls', 'no answer', lambda self, kind: self.peer.stall())
each('stalls', 'in the columns', lambda self, kind: (
    self.send(*self.head('brief')[:1], b'T\0\0\1\0\0\x0a'), self.peer.stall()))
each('stalls', 'in a row', lambda self, kind: (
    self.send(*self.head(kind), row_of(self.values(kind))[:9]), self.peer.stall()), kinds=('set', *SNAPSHOTS))
each('stalls', 'rows that drip', lambda self, kind: (
    self.send(*self.head(kind)), self.peer.drip(row_of(self.values(kind)))), kinds=('set', *SNAPSHOTS))
each('stalls', 'notices that drip', lambda self, kind: self.peer.drip(error_of(b'01000', b'x', kind=b'N')))
each('stalls', 'not ready', lambda self, kind: (self.send(
    *self.head(kind), row_of(self.values(kind)), DONE), self.peer.stall()), kinds=('set', *SNAPSHOTS))

STATEMENTS = ('top', '--count', '2', '--interval', '300ms', '--group', 'query', '--queries')  # asks pg_stat_statements


def of_statements(name, answer, **options):
    each('statements', name, answer, **{'kinds': QUERIES, 'status': (0,), 'command': STATEMENTS, **options})


def statement_rows(name, rows, **options):
    of_statements(name, lambda self, kind: self.send(*self.head(kind), *rows(self, kind), DONE, READY), **options)


for name, answer in (('of a snapshot', lambda self, kind: Postgres.answer(self, 'brief')), ('honest', Postgres.answer),
                     ('no answer', lambda self, kind: self.peer.stall()),
                     ('an error', lambda self, kind: self.send(error_of(b'42501', NASTY_TEXT * 20), READY)),
                     ('of texts', lambda self, kind: self.send(*answer_of((TEXT,) * 3, [row_of([b'A' * 4] * 3)])))):
    of_statements(name, answer)
for value in (None, b''):
    statement_rows(f'{value} everywhere', lambda self, kind, value=value: [row_of([value] * len(COLUMNS[kind]))])
statement_rows('the same row 1000 times', lambda self, kind: [row_of(self.values(kind, n != 0)) for n in range(1000)])
statement_rows('escapes', lambda self, kind: [row_of([NASTY if size == TEXT else value for size, value in zip(
    COLUMNS[kind], self.values(kind, number))]) for number in (0, 1)])
for column in range(9):
    for name, wrong in (('NULL', None), ('1 MB', b'A' * 1000000), ('lowest', b'\x80' + bytes(7)),
                        ('highest', b'\x7f' + b'\xff' * 7), ('no number', b'\x7f\xf8' + bytes(6))):
        statement_rows(f'column {column} is {name}', lambda self, kind, column=column, wrong=wrong: [
            row_of(self.values(kind)), row_of([wrong if at == column else value for at, value in enumerate(
                self.values(kind, 1))])])
MANY_COUNTS = [many_rows('counts', turn) for turn in range(3)]
MANY_TEXTS = [many_rows('texts')]
statement_rows('100,000 entries', lambda self, kind: (
    [MANY_COUNTS[min(self.asked.count(kind), 3) - 1]] if kind == 'counts' else MANY_TEXTS), kinds=('counts', 'texts'))
of_statements('rows without end', lambda self, kind: (
    self.send(*self.head(kind)), self.peer.endless(row_of(self.values(kind)))))
of_statements('a row of 300 MB', lambda self, kind: large_row(self, kind, 300 << 20))

# The answer to the request for TLS, and the handshake, where the user asks for it.
for name, data in (('an error', error_of(b'08P01', NASTY_TEXT)), ('both answers', b'SN'), ('a letter', b'\x1b'),
                   ('more than an answer', b'N' + LOGGED_IN)):
    attack('tls', name, overridden(greet=lambda self, data=data: (self.read_startup(), self.peer.send(data)),
                                   authenticate=lambda self: None, begin=lambda self: None), host='127.0.0.1',
           more=' sslmode=require', status=(1, 4))
for name, served in (('stalls', lambda self: self.peer.stall()), ('is garbage', lambda self: self.peer.send(b'A' * 400)),
                     ('is without end', lambda self: self.peer.endless(b'\x16\x03\x03\x40\x00' + b'A' * 0x4000)),
                     ('drips', lambda self: self.peer.drip(b'\x16\x03\x03\x40\x00' + b'A' * 0x4000))):
    attack('tls', f'the handshake {name}', overridden(answer_to_tls=b'S', protect=served), host='127.0.0.1',
           more=' sslmode=require', status=(1, 4), promise_s=5)

# A server on another machine, which may not get a password without TLS and a certificate. These need a network
# namespace where OTHER is an address of this machine.
OTHER = '192.0.2.1'


def remote(name, address, lets_in, asks=True, **options):
    server = overridden(Remote, address=address, asks=asks, answer_to_tls=b'S' if address else b'N')
    attack('remote', name, server, **{
        'status': (0,) if lets_in else (4,), 'says': '' if lets_in else 'only through TLS', 'host': OTHER,
        'address': address, 'needs': 'namespace', 'may_know': lets_in and asks, **options})


def trusted(name):
    return f' sslmode=verify-full sslrootcert={{folder}}/{name}'


remote('no TLS', '', False)
remote('no TLS, and no password', '', True, asks=False, password='')
remote('no TLS, no password, and it asks for one', '', False, password='', says='asks for a password')
for mode in ('disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'):
    is_safe = mode in ('require', 'verify-ca', 'verify-full')
    remote(f'no TLS, and sslmode={mode}', '', False, more=f' sslmode={mode}', status=(1,) if is_safe else (4,),
           says='SSL' if is_safe else 'only through TLS')
for mode in ('disable', 'prefer'):
    remote(f'no TLS, and PGSSLMODE={mode}', '', False, environment={'PGSSLMODE': mode})
remote('a certificate of nobody', OTHER, False)
remote('a certificate of nobody, and no password', OTHER, True, asks=False, password='')
remote('a certificate of nobody, but sslmode=require', OTHER, True, more=' sslmode=require')
remote('a trusted certificate', OTHER, True, more=trusted('certificate.pem'))
remote('a trusted certificate, by sslrootcert alone', OTHER, True, more=' sslrootcert={folder}/certificate.pem')
remote('a trusted certificate of another server', '192.0.2.7', False, more=trusted('certificate.pem'), status=(1,),
       says='does not match host name')
remote('a certificate that the system trusts', OTHER, True, trusted=True)
remote('a certificate of another server that the system trusts', '192.0.2.7', False, trusted=True)
remote('this machine, then another', '', False, host_list=True)


def client(attacked, listener, folder):
    options = attacked.client
    environment = environment_of(folder, PGPASSWORD=options.get('password', PASSWORD), **options.get('environment', {}))
    if options.get('address'):
        files = certificate(folder, options['address'])
        if options.get('trusted'):
            environment['SSL_CERT_FILE'] = str(files[0])
    place = f'host={options["host"]} port={listener.port}' if listener.port else f'host={folder}'
    if options.get('host_list'):
        place = f'host={folder},{options["host"]} port={listener.port},{listener.port}'
    command = [camp(), *options.get('command', ('top', '--count', '1', '--interval', '200ms')),
               '--from', f'postgres:{place} user=root dbname=shop{options.get("more", "").format(folder=folder)}']
    return command, environment


if __name__ == '__main__':
    Driver('PostgreSQL', ATTACKS, lambda peer: Postgres(peer).serve(), client,
           lambda folder: str(folder / '.s.PGSQL.5432')).main()
