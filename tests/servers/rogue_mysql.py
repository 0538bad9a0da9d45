#!/usr/bin/env python3
"""tests/servers/rogue_mysql.py [WORD...]: attacks of a rogue MySQL server on the login and the answers of
`--from mysql:`, and of rogue servers of both on what `--group query` asks. Prints a table of what came of them
(rogue.py). The words are groups of attacks or parts of their names."""
import struct

from rogue import NASTY, PASSWORD, Attack, Driver, answering, camp, environment_of
from rogue_mariadb_server import EOF, OK, SCRAMBLE, MariaDB, column_of, error_of, length_of, row_of

PROMISE_S = 6 + 8 * 2  # connecting, and eight answers; docs/sessions.md
ATTACKS = []
DIGEST = 'd' * 64
NOT_TEXT = b'\xff\xfe\xc3\x28\xe2\x82\xf0\x9f' # no UTF-8
WITH_NUL = b'shop\0\0evil'


class Statements(MariaDB):
    """A server whose statements have digests."""

    facts = ['1', '1', '1', '9']
    digest = ['select 1', DIGEST, 'SELECT ?']
    count = ['shop', DIGEST, 'SELECT ?', '5', '1000000', '0', '3', '1700000000']
    session = ['7', '70', 'Query', 'Sending data', '12.5', 'root', 'localhost', 'shop', None, 'select 1', None]
    columns = {**MariaDB.columns, 'facts': 4, 'digests': 3, 'counts': 8}

    @staticmethod
    def kind(sql):
        for part, kind in ((b"'statements_digest'", 'facts'), (b'events_statements_summary_by_digest', 'counts'),
                           (b'left(SQL_TEXT', 'digests')):
            if part in sql:
                return kind
        return MariaDB.kind(sql)

    def rows(self, kind):
        return ([getattr(self, kind.removesuffix('s') if kind != 'facts' else kind)] if kind in ('facts', 'digests', 'counts')
                else super().rows(kind))


class MySQL(Statements):
    """MySQL 8, which knows the password: what proves it is not looked at."""

    version, plugin = b'8.0.36', b'caching_sha2_password'

    @staticmethod
    def kind(sql):
        for part, kind in ((b'set session', 'set'), (b'@@thread_handling', 'place'), (b"'statements_digest'", 'facts'),
                           (b'events_statements_summary_by_digest', 'counts'), (b'left(SQL_TEXT', 'digests'),
                           (b'setup_instruments', 'instruments'), (b'distinct r.PROCESSLIST_ID', 'blockers'),
                           (b'PROCESSLIST_COMMAND', 'sessions'), (b'events_waits', 'waits')):
            if part in sql:
                return kind
        raise ValueError(f'an unknown statement: {sql}')

    def authenticate(self):
        self.send(b'\x01\x03')  # The server remembers the password.
        self.send(OK)


def attack(group, name, server, **options):
    options.setdefault('promise_s', PROMISE_S)
    ATTACKS.append(Attack(group, name, lambda peer: server(peer).serve(), **options))


def overridden(base=MySQL, **members):
    return type('Rogue', (base,), members)


def of_both(group, name, answer, kinds, **options):
    """An attack by what either server answers to statements of --group query."""
    for scheme, base in (('mysql', MySQL), ('mariadb', Statements)):
        for kind in kinds:
            attack(group, f'{scheme}, {name}: {kind}', answering(kind, lambda self, kind=kind: answer(self, kind), base),
                   **{'scheme': scheme, 'group_by': 'query', 'status': (0, 1), **options})


# The login.
def login(name, authenticate, **options):
    attack('login', name, overridden(authenticate=authenticate), **{'status': (1, 4), **options})


def stray(self, offset):
    """OK with another number than that of the next packet."""
    self.send(b'\x01\x03')
    self.number += offset
    self.send(OK)


def switch_for_ever(self):
    self.peer.endless(b''.join(self.packet(b'\xfecaching_sha2_password\0' + SCRAMBLE + b'\0') for _ in range(256)))


def switch_and_read(self):
    """Asks for one method after the other, and reads each answer."""
    for number in range(10000):
        self.switch((b'caching_sha2_password', b'mysql_native_password')[number % 2])
    self.send(OK)


login('an empty packet', lambda self: self.send(b''))
login('half a packet', lambda self: (self.peer.send(b'\x10\x00\x00\x02\x01'), self.peer.connection.shutdown(1)))
login('a packet of 16 MB', lambda self: (self.peer.send(b'\xff\xff\xff\x02\x01'), self.peer.fill(0xfffffe)))
login('a length of 2^24 - 1 and silence', lambda self: (self.peer.send(b'\xff\xff\xff\x02\x01\x03'), self.peer.stall()),
      promise_s=6)
# libmariadb takes the next packet for what it is.
login('a packet out of order', lambda self: stray(self, 1), status=(0, 1))
login('a packet of before', lambda self: stray(self, -2), status=(0, 1))
login('an unknown step', lambda self: self.send(b'\x01\x09'))
login('steps without end', lambda self: self.peer.endless(self.packet(b'\x01\x03')))
login('a public key without end', lambda self: self.peer.endless(self.packet(b'\x01' + b'A' * 4000)))
login('more data without end', lambda self: self.peer.endless(self.packet(b'\x01')))
login('switches without end', switch_for_ever)
login('switches, and reads each answer', switch_and_read, status=(0, 1, 4))
login('a switch to a method with NUL in its name', lambda self: (self.switch(b'caching\0sha2'), self.send(OK)),
      status=(0, 1, 4))
login('a switch to a method that is no text', lambda self: (self.switch(NOT_TEXT), self.send(OK)))
login('a switch to a path', lambda self: (self.switch(b'../../../tmp/evil', b''), self.send(OK)))
login('a switch to the password itself', lambda self: (self.switch(b'mysql_clear_password', b''), self.send(OK)))
login('a switch to a dialog', lambda self: (self.switch(b'dialog', b'\x04' + NASTY + b'Tell me your secret'), self.send(OK)),
      prompt='Tell me your secret')
login('a scramble that is cut', lambda self: (self.switch(b'caching_sha2_password', SCRAMBLE[:5]), self.send(OK)),
      status=(0, 1, 4))
login('a scramble of 60 KB', lambda self: (self.switch(b'caching_sha2_password', SCRAMBLE * 3000), self.send(OK)),
      status=(0, 1, 4))
login('refused with escapes', lambda self: self.send(error_of(1045, b'Access denied' + NASTY, b'28000')), status=(4,),
      says='Access denied')
login('an error that is no text', lambda self: self.send(error_of(1045, NOT_TEXT * 50, b'28000')), status=(4,))
# A Unix socket is a place for the password itself.
login('OK cut in its length', lambda self: self.send(b'\x00\xfe\xff'), status=(0, 1), may_know=True)
login('the password asked for, through the socket', lambda self: (self.send(b'\x01\x04'), self.read(), self.send(OK)),
      status=(0,), may_know=True)
# The password itself: over TCP, where it would go in clear.
def eager(self):
    """The greeting, and at once what asks for the password: libmariadb does not wait in between."""
    greeting = self.packet(self.greeting())
    self.peer.send(greeting + b'\x02\x00\x00\x02\x01\x04')
    self.login = self.read()


def key(self):
    """Asks for the password, and for its encryption with a key of the server's own."""
    self.send(b'\x01\x04')
    self.read()
    self.send(b'\x01-----BEGIN PUBLIC KEY-----\n' + b'A' * 300 + b'\n-----END PUBLIC KEY-----\n')
    self.peer.seen += PASSWORD.encode() # The server can read what it gets now.
    self.read()


WITHOUT_TLS = {'host': '127.0.0.1', 'status': (4,), 'says': 'caching_sha2_password'}
login('the password asked for, without TLS', lambda self: (self.send(b'\x01\x04'), self.read(), self.send(OK)), **WITHOUT_TLS)
login('the password asked for with a key, without TLS', key, **WITHOUT_TLS)
login('a switch to its method, without TLS', lambda self: (
    self.switch(b'caching_sha2_password'), self.send(b'\x01\x04'), self.read(), self.send(OK)), **WITHOUT_TLS)
attack('login', 'the password asked for with the greeting', overridden(greet=eager, authenticate=lambda self: (
    self.read(), self.send(OK))), **WITHOUT_TLS)
attack('login', 'a greeting that drips, without TLS', overridden(
    greet=lambda self: ([self.peer.send(bytes([byte])) or self.peer.ended.wait(0.01) for byte in self.packet(self.greeting())],
                        self.read()),
    authenticate=lambda self: (self.send(b'\x01\x04'), self.read(), self.send(OK))), **WITHOUT_TLS)
attack('login', 'MariaDB in its version', overridden(Statements), status=(0,))
attack('login', 'a version of 60 KB', overridden(version=b'8' * 60000), status=(0, 1, 4))
attack('login', 'a version that is no text', overridden(version=NOT_TEXT), status=(0, 1, 4))

# What mysql: asks beside that of mariadb:.
KINDS = ('place', 'instruments', 'sessions')
for kind in KINDS:
    for name, answer in (
            ('rows without end', lambda self, kind: (self.send(*self.head(self.columns[kind])), self.peer.endless(
                self.packet(row_of(self.rows(kind)[0]))))),
            ('NUL in every text', lambda self, kind: self.send(
                *self.head(self.columns[kind]), row_of([WITH_NUL] * self.columns[kind]), EOF)),
            ('no text', lambda self, kind: self.send(
                *self.head(self.columns[kind]), row_of([NOT_TEXT] * self.columns[kind]), EOF)),
            ('a packet out of order', lambda self, kind: (self.send(*self.head(self.columns[kind])), self.peer.send(
                struct.pack('<I', 4)[:3] + b'\xee' + b'\x011\x011'), self.send(EOF))),
            ('a length past the packet', lambda self, kind: self.send(
                *self.head(self.columns[kind]), b'\xfe' + b'\xff' * 8 + b'1' * 40, EOF))):
        attack('answers', f'{name}: {kind}', answering(kind, lambda self, kind=kind, answer=answer: answer(self, kind), MySQL),
               status=(0, 1))

# What --group query asks, of both.
QUERY = ('facts', 'digests', 'counts', 'sessions')
of_both('query', 'another number of columns', lambda self, kind: self.send(*self.head(2), row_of(['1', '1']), EOF), QUERY)
of_both('query', 'NULL everywhere', lambda self, kind: self.send(
    *self.head(self.columns[kind]), row_of([None] * self.columns[kind]), EOF), QUERY)
of_both('query', 'NUL in every text', lambda self, kind: self.send(
    *self.head(self.columns[kind]), row_of([WITH_NUL] * self.columns[kind]), EOF), QUERY)
of_both('query', 'no text', lambda self, kind: self.send(
    *self.head(self.columns[kind]), row_of([NOT_TEXT * 30] * self.columns[kind]), EOF), QUERY)
of_both('query', 'escapes in every text', lambda self, kind: self.send(
    *self.head(self.columns[kind]), row_of([NASTY] * self.columns[kind]), EOF), QUERY)
of_both('query', 'a length past the packet', lambda self, kind: self.send(
    *self.head(self.columns[kind]), b'\xfd\xff\xff\xff' + b'1' * 40, EOF), QUERY)
of_both('query', 'a packet out of order', lambda self, kind: (self.send(*self.head(self.columns[kind])), self.peer.send(
    struct.pack('<I', 4)[:3] + b'\xee' + b'\x011\x011'), self.send(EOF)), QUERY)
of_both('query', 'rows without end', lambda self, kind: (
    self.send(*self.head(self.columns[kind])), self.peer.endless(self.packet(row_of(self.rows(kind)[0])))), QUERY)
of_both('query', 'columns without end', lambda self, kind: (
    self.send(length_of(1 << 40)), self.peer.endless(self.packet(column_of('c' * 200)))), QUERY)
of_both('query', 'no answer', lambda self, kind: self.peer.stall(), QUERY)
of_both('query', 'an error with escapes', lambda self, kind: self.send(error_of(1142, NASTY * 20)), QUERY, status=(0, 1, 4))


def other_digests(self, kind):
    """Digests and texts that are all different, without end."""
    number = 0
    self.send(*self.head(self.columns[kind]))
    while not self.peer.ended.is_set():
        rows = []
        for each in range(number, number + 1000):
            row = list(self.rows(kind)[0])
            row[1], row[2] = f'{each:064x}', f'SELECT {each} '.ljust(290, 'x')
            if kind == 'digests':
                row[0] = f'select {each} '.ljust(900, 'x')
            rows.append(self.packet(row_of(row)))
        self.peer.send(b''.join(rows))
        number += 1000


of_both('query', 'other digests without end', other_digests, ('digests', 'counts'))
for number in ('-1', '99999999999999999999999', 'nan', '18446744073709551615', '0x41414141'):
    of_both('query', f'the number {number}', lambda self, kind, number=number: self.send(
        *self.head(self.columns[kind]), row_of([number] * self.columns[kind]), EOF), ('facts', 'counts'))
for digest in ('', 'd', 'g' * 64, 'd' * 4000, DIGEST.upper(), '-' * 32):
    of_both('query', f'the digest {digest[:8]}, {len(digest)} long', lambda self, kind, digest=digest: self.send(
        *self.head(self.columns[kind]),
        row_of([digest if at == 1 else value for at, value in enumerate(self.rows(kind)[0])]), EOF), ('digests', 'counts'))


def client(attacked, listener, folder):
    options = attacked.client
    environment = environment_of(folder, MARIADB_PWD=PASSWORD, MYSQL_PWD=PASSWORD)
    (folder / '.my.cnf').write_text('')
    place = f'host={options["host"]} port={listener.port}' if listener.port else f'socket={folder}/socket'
    command = [camp(), 'top', '--count', '2', '--interval', '200ms', '--group', options.get('group_by', 'session'),
               '--from', f'{options.get("scheme", "mysql")}:{place} user=root']
    return command, environment


if __name__ == '__main__':
    Driver('MySQL', ATTACKS, lambda peer: MySQL(peer).serve(), client).main()
