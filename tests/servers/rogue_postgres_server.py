"""The protocol of PostgreSQL (version 3), as a server speaks it: messages, the login, and honest answers to camp's
statements."""
import ssl
import struct
import time

SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST = 80877103, 80877104, 80877102
INT4, INT8, BOOL, TEXT, NAME, TIME, INT4S, FLOAT8 = 23, 20, 16, 25, 19, 1184, 1007, 701
SIZES = {INT4: 4, INT8: 8, BOOL: 1, TIME: 8, FLOAT8: 8}
BRIEF = (INT4, BOOL, TIME, TEXT, TEXT, TEXT, TEXT, INT4, BOOL, TIME, INT8, INT4S)
WHOLE = BRIEF + (NAME, NAME, TEXT, TEXT, TIME, TEXT, TIME, TIME)
COLUMNS = {'set': (TEXT,), 'brief': BRIEF, 'whole': WHOLE, 'find': (TEXT, INT8) + (BOOL,) * 7,
           'counts': (BOOL, INT8, INT8, INT8, INT8, FLOAT8, FLOAT8, INT8), 'texts': (INT8, TEXT, INT8)}
QUERIES = ('find', 'counts', 'texts')  # with --group query: of pg_stat_statements
OWN_PID = 70000000  # larger than the pid of any process here


def message(kind, data=b''):
    return kind + struct.pack('>I', len(data) + 4) + data


def columns_of(types, name=b'c', binary=1):
    """Returns the message that describes the columns of an answer."""
    return message(b'T', struct.pack('>H', len(types)) + b''.join(
        name + b'\0' + struct.pack('>IHIhiH', 0, 0, kind, SIZES.get(kind, -1), -1, binary) for kind in types))


def field_of(value):
    return b'\xff\xff\xff\xff' if value is None else struct.pack('>I', len(value)) + value


def row_of(values):
    return message(b'D', struct.pack('>H', len(values)) + b''.join(map(field_of, values)))


def fields_of(types, values):
    """Encodes numbers for columns of these types; texts and None stay as they are."""
    formats = {INT4: '>i', INT8: '>q', BOOL: '?', TIME: '>q', FLOAT8: '>d'}
    return [struct.pack(formats[kind], value) if isinstance(value, (int, float)) else value
            for kind, value in zip(types, values)]


def array_of(numbers):
    """Encodes an array of INT4 with one dimension, or none if it is empty."""
    head = struct.pack('>III', bool(numbers), 0, INT4)
    return head + (struct.pack('>II', len(numbers), 1) + b''.join(struct.pack('>Ii', 4, n) for n in numbers) if numbers else b'')


def error_of(state, text, severity=b'ERROR', kind=b'E', fields=b''):
    return message(kind, b'S' + severity + b'\0C' + state + b'\0M' + text + b'\0' + fields + b'\0')


def parameter_of(name, value):
    return message(b'S', name + b'\0' + value + b'\0')


def now_us():
    return int((time.time() - 946684800) * 1000000)


LOGGED_IN = message(b'R', struct.pack('>I', 0))
READY = message(b'Z', b'I')
DONE = message(b'C', b'SELECT 1\0')
BOUND = message(b'2')


class Postgres:
    """One connection: the login, and answers to camp's statements. Attacks override methods of it."""

    version, answer_to_tls, answer_to_gss = b'15.18', b'N', b'N'

    def __init__(self, peer):
        self.peer, self.asked, self.start = peer, [], now_us() - 60000000

    def send(self, *messages):
        self.peer.send(b''.join(messages))

    def read_startup(self):
        size, code = struct.unpack('>II', self.peer.receive(8))
        return code, self.peer.receive(size - 8)

    def read(self):
        kind = self.peer.receive(1)
        return kind, self.peer.receive(struct.unpack('>I', self.peer.receive(4))[0] - 4)

    def protect(self):
        """Called after TLS was agreed on."""

    def greet(self):
        while True:
            code, self.startup = self.read_startup()
            if code == CANCEL_REQUEST:
                self.cancel()
            if code not in (SSL_REQUEST, GSS_REQUEST):
                return
            answer = self.answer_to_tls if code == SSL_REQUEST else self.answer_to_gss
            self.peer.send(answer)
            if answer == b'S':
                self.protect()

    def cancel(self):
        pass

    def authenticate(self):
        self.send(LOGGED_IN)

    def begin(self):
        self.send(parameter_of(b'server_version', self.version), parameter_of(b'client_encoding', b'UTF8'),
                  parameter_of(b'standard_conforming_strings', b'on'), message(b'K', struct.pack('>II', OWN_PID, 7)),
                  READY)

    def values(self, kind, number=0):
        """Returns the values of a session; number 0 is camp's own."""
        if kind == 'set':
            return [b'true']
        if kind == 'find':
            return fields_of(COLUMNS[kind], [b'public', 70, *[True] * 7])
        if kind == 'counts':
            self.calls = getattr(self, 'calls', 0) + 1
            return fields_of(COLUMNS[kind], [number == 0, 5, 77 + number, self.calls, 3, 0.5, float(self.calls), 0])
        if kind == 'texts':
            return fields_of(COLUMNS[kind], [77 + number, b'select $1', 71])
        values = [OWN_PID + number, number == 0, self.start, b'active', b'Lock', b'relation', b'client backend', None, True,
                  now_us(), 77, array_of([OWN_PID + number - 1] if number else [])]
        if kind == 'whole':
            values += [b'root', b'shop', b'web', b'local', self.start, b'', self.start, now_us()]
        return fields_of(COLUMNS[kind], values)

    def head(self, kind):
        parsed = [message(b'1')] if kind in QUERIES else []
        return [*parsed, *([] if kind == 'set' else [BOUND]), columns_of(COLUMNS[kind], binary=int(kind != 'set'))]

    def answer(self, kind):
        if kind == 'prepare':
            self.send(message(b'1'), READY)
        else:
            rows = [row_of(self.values(kind, number)) for number in range(1 if kind == 'set' else 2)]
            self.send(*self.head(kind), *rows, DONE, READY)

    def serve(self):
        self.greet()
        self.authenticate()
        self.begin()
        kind = None
        while True:
            tag, data = self.read()
            if tag == b'X':
                return
            if tag == b'Q':
                kind = 'set'
            elif tag == b'P':
                kind = 'prepare'
                if data.startswith(b'\0'):
                    kind = 'find' if b'pg_extension' in data else 'counts' if b'union all' in data else 'texts'
            elif tag == b'B' and kind not in QUERIES:
                kind = 'whole' if b'camp_1' in data else 'brief'
            if tag in (b'Q', b'S'):
                self.asked.append(kind)
                self.answer(kind)
                kind = None


class Remote(Postgres):
    """Asks for the password, without TLS; or with it, if `address` is set, which the certificate is for."""

    address, lets_in = '', False

    def protect(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.peer.folder / 'certificate.pem', self.peer.folder / 'key.pem')
        self.peer.connection = context.wrap_socket(self.peer.connection, server_side=True)

    def authenticate(self):
        if self.asks:
            self.send(message(b'R', struct.pack('>I', 3)))
            self.read()
        self.send(LOGGED_IN)


MANY = 100000


def many_rows(kind, turn=0):
    """MANY rows for pg_stat_statements, made before camp asks, which waits for a second. In each turn each statement has
    been called again."""
    server = Postgres.__new__(Postgres)
    server.calls = turn * MANY
    return b''.join(row_of(server.values(kind, number)) for number in range(MANY))
