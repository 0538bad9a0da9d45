"""The protocol of MariaDB, as a server speaks it: packets, the greeting, and honest answers to camp's statements."""
import struct

# capabilities: protocol 4.1, transactions, passwords of 4.1, databases, plugins, attributes, LOCAL INFILE
CAPABILITIES = 0x200 | 0x2000 | 0x8000 | 0x8 | 0x80000 | 0x100000 | 0x80
TLS, COMPRESS, PROGRESS = 0x800, 0x20, 1 << 29
SCRAMBLE = b'12345678' + b'901234567890'
OK = b'\x00\x00\x00\x02\x00\x00\x00'
EOF = b'\xfe\x00\x00\x02\x00'
PROGRESS_REPORT = b'\xff\xff\xff\x01\x01\x02\x00\x00\x00\x03abc'


def text_of(value):
    if value is None:
        return b'\xfb'
    data = value if isinstance(value, bytes) else str(value).encode()
    return length_of(len(data)) + data


def length_of(number):
    if number < 251:
        return bytes([number])
    if number < 1 << 16:
        return b'\xfc' + struct.pack('<H', number)
    if number < 1 << 24:
        return b'\xfd' + struct.pack('<I', number)[:3]
    return b'\xfe' + struct.pack('<Q', number)


def row_of(values):
    return b''.join(text_of(value) for value in values)


def column_of(name):
    return b''.join(map(text_of, ('def', '', '', '', name, ''))) + b'\x0c\x21\x00\xff\xff\x00\x00\xfd\x00\x00\x00\x00\x00'


def error_of(number, message, state=b'HY000'):
    return b'\xff' + struct.pack('<H', number) + b'#' + state + message


class MariaDB:
    """One connection: packets, the greeting, and answers to camp's statements. Attacks override methods of it."""

    version, plugin, capabilities = b'5.5.5-10.11.19-MariaDB', b'mysql_native_password', CAPABILITIES
    # the columns of the answers to camp's statements
    place = ['1', 'pool-of-threads', 'elsewhere']
    instruments = ['0', None]
    session = ['7', '70', 'Query', 'Sending data', '12.5', 'root', 'localhost', 'shop', 'LOCK WAIT', None, None]
    blocker = ['7', '8']
    wait = ['7', 'wait/synch/cond/sql/COND', '1000000', '0']
    columns = {'place': 3, 'rights': 11, 'instruments': 2, 'sessions': 11, 'waits': 4, 'blockers': 2}

    def __init__(self, peer):
        self.peer, self.number, self.asked = peer, 0, []

    def packet(self, data):
        """Returns the packets of these bytes. 16 MB - 1 or more are several packets."""
        packets = b''
        while True:
            part, data = data[:0xffffff], data[0xffffff:]
            packets += struct.pack('<I', len(part))[:3] + bytes([self.number & 255]) + part
            self.number += 1
            if len(part) < 0xffffff:
                return packets

    def send(self, *packets):
        self.peer.send(b''.join(map(self.packet, packets)))

    def read(self):
        head = self.peer.receive(4)
        self.number = head[3] + 1
        return self.peer.receive(head[0] | head[1] << 8 | head[2] << 16)

    def greeting(self):
        return (b'\x0a' + self.version + b'\0' + struct.pack('<I', 9) + SCRAMBLE[:8] + b'\0'
                + struct.pack('<H', self.capabilities & 0xffff) + b'\x21\x02\x00'
                + struct.pack('<H', self.capabilities >> 16) + bytes([21]) + bytes(10)
                + SCRAMBLE[8:] + b'\0' + self.plugin + b'\0')

    def greet(self):
        self.send(self.greeting())
        self.login = self.read()

    def authenticate(self):
        self.send(OK)

    def switch(self, plugin, data=SCRAMBLE + b'\0'):
        self.send(b'\xfe' + plugin + b'\0' + data)
        return self.read()

    @staticmethod
    def kind(sql):
        for part, kind in ((b'set session', 'set'), (b'@@thread_handling', 'place'), (b'setup_instruments', 'instruments'),
                           (b'events_waits', 'waits'), (b'LOCK_WAITS', 'blockers'), (b'PROCESSLIST', 'sessions')):
            if part in sql:
                return kind
        raise ValueError(f'an unknown statement: {sql}')

    def rows(self, kind):
        return [getattr(self, 'session' if kind == 'rights' else kind.removesuffix('s') if kind in ('sessions', 'waits', 'blockers')
                        else kind)]

    def head(self, count):
        return [length_of(count), *(column_of(f'c{n}') for n in range(count)), EOF]

    def answer(self, kind):
        if kind == 'set':
            self.send(OK)
        else:
            self.send(*self.head(self.columns[kind]), *map(row_of, self.rows(kind)), EOF)

    def serve(self):
        self.greet()
        self.authenticate()
        while True:
            command = self.read()
            if command[:1] != b'\x03':
                return  # COM_QUIT
            kind = self.kind(command[1:])
            # The right to read transactions is found out by the statement of the first sample.
            if kind == 'sessions' and 'rights' not in self.asked:
                kind = 'rights'
            self.asked.append(kind)
            self.answer(kind)


class Instrumented(MariaDB):
    instruments = ['5', '0']  # idle, and waits in flight
