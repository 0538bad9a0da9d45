#!/usr/bin/env python3
"""tests/servers/rogue_mariadb.py [WORD...]: attacks of a rogue MariaDB server on camp, and a table of what came of
them (rogue.py). The words are groups of attacks or parts of their names."""
import ssl
import struct
import zlib

from rogue import NASTY, PASSWORD, Attack, Driver, answering, camp, certificate, environment_of
from rogue_mariadb_server import (
    CAPABILITIES, COMPRESS, EOF, OK, PROGRESS, PROGRESS_REPORT, SCRAMBLE, TLS, Instrumented, MariaDB, column_of, error_of,
    length_of, row_of)

PROMISE_S = 6 + 5 * 2  # connecting, and five answers; docs/sessions.md

ATTACKS = []


def attack(group, name, server, **options):
    options.setdefault('promise_s', PROMISE_S)
    ATTACKS.append(Attack(group, name, lambda peer: server(peer).serve(), **options))


def overridden(base=MariaDB, **members):
    return type('Rogue', (base,), members)


def at(kind, answer, base=Instrumented):
    return answering(kind, answer, base)


KINDS = ('place', 'rights', 'instruments', 'sessions', 'waits')
# An answer of a kind that a source needs before it is open ends camp; later ones are notes in the frames.
BEFORE = ('place', 'rights', 'instruments')


def status_of(kind):
    return (1,) if kind in BEFORE else (0,)


def each(group, name, answer, kinds=KINDS, base=Instrumented, **options):
    for kind in kinds:
        attack(group, f'{name}: {kind}', at(kind, lambda self, kind=kind: answer(self, kind), base),
               **{'status': status_of(kind), **options})


# The greeting.
def greet_with(data):
    return lambda self: self.peer.send(data)


def greeting(name, data, **options):
    attack('greeting', name, overridden(greet=greet_with(data), authenticate=lambda self: None), **options)


greeting('nothing', b'')
greeting('half a header', b'\x10\x00')
greeting('zeros', bytes(300))
greeting('no terminator', b'\x20\x00\x00\x00\x0a' + b'8' * 31, status=(1, 4))
greeting('a cut packet', b'\x10\x00\x00\x00\x0a5.5.5')
greeting('protocol 9', b'\x06\x00\x00\x00\x09evil\0')
greeting('an error with escapes', b'\x40\x00\x00\x00' + error_of(1040, NASTY).ljust(64, b'!'))
attack('greeting', 'MySQL with escapes in its version', overridden(version=b'8.0.36' + NASTY.replace(b'\0', b'')),
       says='this is MySQL')
attack('greeting', 'endless', overridden(greet=lambda self: (
    self.peer.send(b'\xff\xff\xff\x00\x0a'), self.peer.fill(1 << 30))))


# Authentication: the password, prompts, other plugins.
def switching(plugin, data=SCRAMBLE + b'\0'):
    def authenticate(self):
        self.switch(plugin, data)
        self.send(OK)
    return overridden(authenticate=authenticate)


PROMPT = 'Tell me your secret'
for where, change in (('switch to', switching), ('greeted by', lambda name, *_: overridden(plugin=name))):
    for plugin, data in ((b'mysql_clear_password', b''), (b'dialog', b'\x04' + NASTY + PROMPT.encode()),
                         (b'sha256_password', SCRAMBLE + b'\0'), (b'caching_sha2_password', SCRAMBLE + b'\0'),
                         (b'mysql_old_password', SCRAMBLE[:8] + b'\0'), (b'../../../tmp/evil', b''), (b'a', b''),
                         (b'\x1b[2Jevil', b'')):
        attack('login', f'{where} {plugin.decode().replace(chr(27), "ESC")}', change(plugin, data), prompt=PROMPT,
               status=(1, 4), says='MariaDB: ')


def old_short(self):
    self.send(b'\xfe')
    self.read()


def switch_for_ever(self):
    self.peer.endless(b''.join(self.packet(b'\xfemysql_native_password\0' + SCRAMBLE + b'\0') for _ in range(256)))


attack('login', 'switch to the passwords of 4.0', overridden(authenticate=old_short), status=(4,))
attack('login', 'switches without end', overridden(authenticate=switch_for_ever))
attack('login', 'refused with escapes', overridden(
    authenticate=lambda self: self.send(error_of(1045, b'Access denied' + NASTY, b'28000'))), status=(4,),
    says='Access denied')
attack('login', 'OK cut in its length', overridden(authenticate=lambda self: self.send(b'\x00\xfe\xff')), status=(0, 1))
attack('login', 'OK with a session state past its end', overridden(
    capabilities=CAPABILITIES | 1 << 23,
    authenticate=lambda self: self.send(b'\x00\x00\x00\x02\x40\x00\x00\xfc\xff\xff\xfd\xff\xff\xff')), status=(0, 1))
attack('login', 'progress reports without end', overridden(
    capabilities=CAPABILITIES | PROGRESS,
    authenticate=lambda self: self.peer.endless(self.packet(PROGRESS_REPORT))))


# LOCAL INFILE: the server asks for a file of the client.
def ask_for_file(self, _kind=None):
    self.send(b'\xfb' + str(self.peer.folder / 'private').encode())
    try:
        while self.read():
            pass
    finally:
        self.send(OK)


for file in ('', '[client]\nlocal-infile=1\n', '[camp]\nlocal-infile=1\n'):
    for kind in ('set', *KINDS):
        attack('files', f'LOCAL INFILE {file.replace(chr(10), " ")}: {kind}', at(kind, ask_for_file),
               status=(1,) if kind in ('set', *BEFORE) else (0,), option_file=file)

# The shape of an answer.
for count in (0, 1, 10, 12, 300):
    each('columns', f'{count} columns', lambda self, kind, count=count: self.send(
        *([OK] if count == 0 else [*self.head(count), row_of(['A' * 16] * count), EOF])),
        kinds=KINDS[:4], says='columns')
    each('columns', f'{count} columns', lambda self, kind, count=count: self.send(
        *([OK] if count == 0 else [*self.head(count), row_of(['A' * 16] * count), EOF])), kinds=KINDS[4:])
attack('columns', 'rows in answer to set', at('set', lambda self: Instrumented.answer(self, 'place')))
each('rows', 'no rows', lambda self, kind: self.send(*self.head(self.columns[kind]), EOF), status=(0, 1))
each('rows', 'NULL everywhere', lambda self, kind: self.send(
    *self.head(self.columns[kind]), row_of([None] * self.columns[kind]), EOF), status=(0, 1))
each('rows', 'empty texts', lambda self, kind: self.send(
    *self.head(self.columns[kind]), row_of([''] * self.columns[kind]), EOF), status=(0, 1))
each('rows', 'fewer fields than columns', lambda self, kind: self.send(
    *self.head(self.columns[kind]), row_of(['1'] * (self.columns[kind] - 1)), EOF), status=(0, 1))
each('rows', 'a length past the packet', lambda self, kind: self.send(
    *self.head(self.columns[kind]), b'\xfc\xff\xff' + b'1' * 40, EOF), status=(0, 1))
each('rows', 'a length of 2^63', lambda self, kind: self.send(
    *self.head(self.columns[kind]), b'\xfe' + b'\xff' * 7 + b'\x7f' + b'1' * 40, EOF), status=(0, 1))
for number in ('-1', '99999999999999999999999', 'nan', '1e308', '-9223372036854775808', '0x41414141', 'A' * 4096):
    each('rows', f'the number {number[:24]}', lambda self, kind, number=number: self.send(
        *self.head(self.columns[kind]), row_of([number] * self.columns[kind]), EOF), status=(0, 1))
each('rows', 'the same session 1000 times', lambda self, kind: self.send(
    *self.head(self.columns[kind]), *(row_of(row) for row in self.rows(kind) * 1000), EOF), status=(0, 1))
each('rows', 'an error after a row', lambda self, kind: self.send(
    *self.head(self.columns[kind]), row_of(self.rows(kind)[0]), error_of(1317, b'Query was ' + NASTY)), status=(0, 1))
each('rows', 'a second answer', lambda self, kind: self.send(
    *self.head(self.columns[kind]), row_of(self.rows(kind)[0]), EOF[:3] + b'\x0a\x00', *self.head(1), EOF), status=(0, 1))
each('rows', 'closed after a row', lambda self, kind: (self.send(
    *self.head(self.columns[kind]), row_of(self.rows(kind)[0])), self.peer.connection.shutdown(1)), status=(0, 1))

# Who blocks whom is asked while a session waits for a row, by a camp without instruments.
for name, rows in (('itself', [['7', '7']]), ('a cycle', [['7', '8'], ['8', '7']]), ('1000 others', [['7', str(n)] for n in range(1000)]),
                   ('no numbers', [['x', NASTY]]), ('NULL', [[None, None]]), ('numbers below 0', [['-7', '-8'], ['7', '-1']]),
                   ('large numbers', [['7', '9' * 30]]), ('fewer fields', [['7']]), ('1 MB', [['7', 'A' * 1000000]]),
                   ('another session', [['9', '7']])):
    each('rows', f'blocked by {name}', lambda self, kind, rows=rows: self.send(*self.head(2), *map(row_of, rows), EOF),
         kinds=('blockers',), base=MariaDB, status=(0, 1))
each('columns', 'of who blocks whom', lambda self, kind: self.send(*self.head(3), row_of(['7', '8', '9']), EOF), kinds=('blockers',),
     base=MariaDB, says='columns')
each('sizes', 'who blocks whom without end', lambda self, kind: (
    self.send(*self.head(2)), self.peer.endless(self.packet(row_of(['7', '8'])))), kinds=('blockers',), base=MariaDB)

# Sizes.
each('sizes', 'rows without end', lambda self, kind: (
    self.send(*self.head(self.columns[kind])),
    self.peer.endless(self.packet(row_of(self.rows(kind)[0])))))
each('sizes', 'other sessions without end', lambda self, kind: (
    self.send(*self.head(self.columns[kind])), many_sessions(self)), kinds=('sessions',))
each('sizes', 'empty rows without end', lambda self, kind: (
    self.send(*self.head(self.columns[kind])), self.peer.endless(self.packet(b'\xfb' * self.columns[kind]))))
each('sizes', 'columns without end', lambda self, kind: (
    self.send(length_of(1 << 40)), self.peer.endless(self.packet(column_of('c' * 200)))))
each('sizes', 'columns of short names without end', lambda self, kind: (
    self.send(length_of(10)), self.peer.endless(self.packet(column_of('')))), kinds=('place', 'sessions'))


def large_row(self, kind, size, packets):
    """Sends a row whose first field has `size` bytes, in so many packets of 16 MB - 1 and a last one."""
    rest = row_of(['1'] * (self.columns[kind] - 1))
    head = b'\xfe' + struct.pack('<Q', size)
    left = len(head) + size + len(rest)
    self.send(*self.head(self.columns[kind]))
    for _ in range(packets):
        self.peer.send(b'\xff\xff\xff' + bytes([self.number & 255]) + head)
        self.peer.fill(0xffffff - len(head))
        self.number, left, head = self.number + 1, left - 0xffffff, b''
    self.peer.send(struct.pack('<I', left)[:3] + bytes([self.number & 255]) + head)
    self.peer.fill(left - len(head) - len(rest))
    self.peer.send(rest)
    self.number += 1
    self.send(EOF)


each('sizes', 'a row of 15 MB', lambda self, kind: large_row(self, kind, 15 << 20, 0))
each('sizes', 'a row of 200 MB', lambda self, kind: large_row(self, kind, 200 << 20, 12), kinds=('place', 'sessions'))
each('sizes', 'progress reports without end', lambda self, kind: self.peer.endless(self.packet(PROGRESS_REPORT)))


def many_sessions(self):
    number = 0
    while not self.peer.ended.is_set():
        self.peer.send(b''.join(self.packet(row_of([number + n, *self.session[1:5], f'user{number + n}',
                                                    *self.session[6:]])) for n in range(2000)))
        number += 2000


# Texts.
def nasty_rows(self, kind):
    return row_of([NASTY if value and not value.replace('.', '').isdigit() else value
                   for value in self.rows(kind)[0]])


each('texts', 'escapes in every text', lambda self, kind: self.send(
    *self.head(self.columns[kind]), nasty_rows(self, kind), EOF), status=(0,))
for number in (1064, 1227, 1142, 1049, 3024, 1969, 65535):
    each('texts', f'error {number} with escapes', lambda self, kind, number=number: self.send(
        error_of(number, NASTY * 20)), kinds=('place', 'instruments', 'sessions'), status=(0, 1, 4))
attack('texts', 'error in answer to set', at('set', lambda self: self.send(error_of(1193, NASTY))))

# Stalls and drips. At the end of each there is silence, or a byte now and then.
attack('stalls', 'before the greeting', overridden(greet=lambda self: self.peer.stall()), promise_s=6, says='no answer')
attack('stalls', 'in the greeting', overridden(greet=lambda self: (
    self.peer.send(self.packet(self.greeting())[:20]), self.peer.stall())), promise_s=6, says='no answer')
attack('stalls', 'a greeting that drips', overridden(greet=lambda self: self.peer.drip(
    b'\xff\x0f\x00\x00\x0a' + b'8' * 4094)), promise_s=6, says='no answer')
attack('stalls', 'after the login', overridden(authenticate=lambda self: self.peer.stall()), promise_s=6,
       says='no answer')
attack('stalls', 'after a switch', overridden(authenticate=lambda self: (
    self.switch(b'mysql_native_password'), self.peer.stall())), promise_s=6, says='no answer')
each('stalls', 'no answer', lambda self, kind: self.peer.stall(), kinds=('set', *KINDS), says='',
     status=(0, 1))
each('stalls', 'in the columns', lambda self, kind: (
    self.send(*self.head(self.columns[kind])[:2]), self.peer.stall()), status=(0, 1))
each('stalls', 'in a row', lambda self, kind: (
    self.send(*self.head(self.columns[kind])), self.peer.send(b'\x40\x00\x00\x09abc'), self.peer.stall()), status=(0, 1))
each('stalls', 'rows that drip', lambda self, kind: (
    self.send(*self.head(self.columns[kind])), self.peer.drip(self.packet(row_of(self.rows(kind)[0])))), status=(0, 1))

# TLS on this machine, where the option file asks for it.
for name, served in (('stalls', lambda self: self.peer.stall()), ('is garbage', lambda self: self.peer.send(b'A' * 400)),
                     ('is garbage without end', lambda self: self.peer.endless(b'\x16\x03\x03\x40\x00' + b'A' * 0x4000)),
                     ('drips', lambda self: self.peer.drip(b'\x16\x03\x03\x40\x00' + b'A' * 0x4000))):
    attack('tls', f'the handshake {name}', overridden(
        capabilities=CAPABILITIES | TLS, authenticate=served), option_file='[client]\nssl\n', promise_s=6,
        host='127.0.0.1')
attack('tls', 'offered on a Unix socket, and it stalls', overridden(
    capabilities=CAPABILITIES | TLS, authenticate=lambda self: self.peer.stall()), option_file='[client]\nssl\n',
    promise_s=6)


# Compression, which the option file asks for: 1 MB of it could become 1 GB.
def compressed(self, kind):
    """Sends endless columns of an answer in the packets of the compressed protocol."""
    columns = b''.join(map(self.packet, [column_of('')] * 400)) * 400
    data = zlib.compress(columns[:0xffff00], 9)
    block = struct.pack('<I', len(data))[:3] + b'\x00' + struct.pack('<I', len(columns[:0xffff00]))[:3] + data
    self.send(length_of(10))
    self.peer.endless(block)


each('sizes', 'compressed columns without end', compressed, base=overridden(
    Instrumented, capabilities=CAPABILITIES | COMPRESS), kinds=('place', 'sessions'), option_file='[client]\ncompress\n')


# Answers that are as large as permitted.
def full(self, kind):
    self.send(*self.head(self.columns[kind]))
    for first in range(0, 16000, 1000):
        self.send(*(row_of([number, number, f'command {number}', f'state {number}'.ljust(60, 's'), '1',
                            f'user{number}'.ljust(120, 'u'), f'host{number}'.ljust(120, 'h'),
                            f'database{number}'.ljust(120, 'd'), 'RUNNING', f'query {number}'.ljust(180, 'q')])
                    for number in range(first, first + 1000)))
    self.send(EOF)


def full_waits(self, kind):
    self.send(*self.head(self.columns[kind]))
    for first in range(0, 131000, 1000):
        self.send(*(row_of([number, f'wait/synch/cond/{number}'.ljust(70, 'w'), '1000', '0'])
                    for number in range(first, first + 1000)))
    self.send(EOF)


each('sizes', '16000 sessions with other texts', full, kinds=('sessions',), status=(0,))
each('sizes', '131000 waits with other names', full_waits, kinds=('waits',), status=(0,))

# A server on another machine, which may not get a password without TLS and a certificate. These need a network
# namespace where OTHER is an address of this machine.
OTHER = '192.0.2.1'


class Remote(MariaDB):
    """Without TLS; or with it, if `address` is set, which the certificate is for."""

    address, lets_in = '', False

    def greet(self):
        self.send(self.greeting())
        self.login = self.read()
        if self.address:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.peer.folder / 'certificate.pem', self.peer.folder / 'key.pem')
            self.peer.connection = context.wrap_socket(self.peer.connection, server_side=True)
            self.login = self.read()
        # What the login proves a password with is as good as the password to somebody who can try words.
        if not self.lets_in:
            self.peer.seen += PASSWORD.encode()


def remote(name, address, lets_in, **options):
    server = overridden(Remote, address=address, lets_in=lets_in, capabilities=CAPABILITIES | (TLS if address else 0))
    attack('remote', name, server, **{
        'status': (0,) if lets_in else (4,), 'says': '' if lets_in else 'only through TLS', 'host': OTHER, 'address': address,
        'needs': 'namespace', **options})


TRUSTED = '[client]\nssl-ca={folder}/certificate.pem\n'
remote('no TLS', '', False)
remote('no TLS, and no password', '', True, password='')
remote('no TLS, but verify=no', '', True, more=' verify=no')
remote('a certificate of nobody', OTHER, False)
remote('a certificate of nobody, and no password', OTHER, True, password='')
remote('a certificate of nobody, but verify=no', OTHER, True, more=' verify=no')
remote('a trusted certificate', OTHER, True, option_file=TRUSTED)
remote('a trusted certificate of another server', '192.0.2.7', False, option_file=TRUSTED)
remote('a certificate that the system trusts', OTHER, True, trusted=True)
remote('a certificate of another server that the system trusts', '192.0.2.7', False, trusted=True)
remote('no TLS, and ssl in the option file', '', False, option_file='[client]\nssl\n')


def client(attacked, listener, folder):
    options = attacked.client
    environment = environment_of(folder, MARIADB_PWD=options.get('password', PASSWORD))
    (folder / '.my.cnf').write_text(options.get('option_file', '').format(folder=folder))
    if options.get('address'):
        files = certificate(folder, options['address'])
        if options.get('trusted'):
            environment['SSL_CERT_FILE'] = str(files[0])
    place = f'host={options["host"]} port={listener.port}' if listener.port else f'socket={folder}/socket'
    command = [camp(), *options.get('command', ('top', '--count', '1', '--interval', '200ms')),
               '--from', f'mariadb:{place} user=root{options.get("more", "")}']
    return command, environment


if __name__ == '__main__':
    Driver('MariaDB', ATTACKS, lambda peer: Instrumented(peer).serve(), client).main()
