#!/usr/bin/env python3
"""tests/servers/rogue_prometheus.py [WORD...]: attacks of a rogue Prometheus server on camp, and a table of what came of
them (rogue.py). The words are groups of attacks or parts of their names. The group "long" runs only if it is named."""
import itertools
import json
import socket
import threading
import time
import zlib

from rogue import NASTY, PASSWORD, Attack, Driver, answering, camp, environment_of

ANSWER_S = 30  # at most, for one answer: docs/fleet.md
PLAIN = 'CAMP_PROMETHEUS_PLAIN'
PROMISE_S = 5  # of the attacks with short answers
TEXT = NASTY.replace(b'\0', b'').decode(errors='ignore')  # what is hostile, but correct UTF-8
MODES = ('user', 'system', 'irq', 'softirq', 'iowait', 'idle')

ATTACKS = []


def attack(group, name, server, **options):
    options.setdefault('promise_s', PROMISE_S)
    ATTACKS.append(Attack(group, name, lambda peer: server(peer).serve(), **options))


def pair(at, value):
    return [round(at, 3), str(value)]


def series(labels, **samples):
    return {'metric': labels, **samples}


def answer_of(kind, result):
    return json.dumps({'status': 'success', 'data': {'resultType': kind, 'result': result}}).encode()


class Prometheus:
    """An honest server of two hosts. `asked` is the kind of the question: "probe" and "first" before the first
    snapshot; and of each snapshot "marks" (clock and hosts that are down), "sampled", and the other counters, which are
    "snapshot" in the first snapshot and "frame" later."""

    hosts = ('alpha', 'beta')

    def __init__(self, peer):
        self.peer = peer

    snapshots = property(lambda self: self.peer.known.get('snapshots', 0))

    def read(self):
        """Reads a question. Returns its kind."""
        head = b''
        while not head.endswith(b'\r\n\r\n'):
            head += self.peer.receive(1)
        length = next(int(line.split(b':')[1]) for line in head.split(b'\r\n')
                      if line.lower().startswith(b'content-length:'))
        query = self.peer.receive(length)
        if b'count_over_time' in query:
            return 'probe'
        if b'vector%28time' in query:
            return 'marks'
        if b'time=' not in query:
            return 'first'
        if b'camp_cpu_measured' not in query:
            return 'sampled'
        self.peer.known['snapshots'] = self.snapshots + 1
        return 'snapshot' if self.snapshots == 1 else 'frame'

    def send(self, body, *headers, status='200 OK'):
        self.peer.send('\r\n'.join([f'HTTP/1.1 {status}', f'Content-Length: {len(body)}', *headers, '', '']).encode() + body)

    def counters(self, now):
        """Yields the labels and the value of each counter, `now` in seconds."""
        for host in self.hosts:
            labels = {'instance': host, 'job': 'camp'}
            yield {'__name__': 'camp_cpus', **labels}, 4
            yield {'__name__': 'camp_clock_seconds_total', **labels}, now
            for mode in MODES:
                yield {'__name__': 'camp_cpu_measured_seconds_total', 'mode': mode, **labels}, now * 4 / len(MODES)

    def sampled(self, now):
        for host in self.hosts:
            yield {'__name__': 'camp_cpu_seconds_total', 'mode': 'user', 'instance': host, 'job': 'camp'}, now

    def send_samples(self, counters, times):
        rows = zip(*(counters(at) for at in times))
        self.send(answer_of('matrix', [
            series(row[0][0], values=[pair(at, value) for at, (_, value) in zip(times, row)]) for row in rows]))

    def answer(self, asked):
        now = time.time()
        if asked == 'probe':
            self.send(answer_of('vector', [
                series({'camp_part': 'now'}, value=pair(now, now)), series({'camp_part': 'count'}, value=pair(now, 300)),
                series({'camp_part': 'job', 'job': 'camp'}, value=pair(now, 1))]))
        elif asked == 'marks':
            self.send(answer_of('vector', [series({'camp_part': 'now'}, value=pair(now, now))]))
        else:
            newest = now // 0.5 * 0.5
            count = 6 if asked == 'first' else 3
            self.send_samples(self.sampled if asked == 'sampled' else self.counters,
                              [newest - 0.5 * i for i in reversed(range(count))])

    def serve(self):
        while True:
            self.answer(self.read())


KINDS = ('probe', 'first', 'marks', 'snapshot', 'frame')


def at(kind, answer):
    return answering(kind, answer, Prometheus)


def each(group, name, answer, kinds=KINDS, **options):
    """An attack at each kind of question. A failure until the first snapshot ends camp. A later one is a note in the
    frames after it, of which the last may be shown before."""
    if group in ('bombs', 'sizes'):
        options.setdefault('promise_s', ANSWER_S)
    for kind in kinds:
        later = {'status': (0,), 'says': ''} if kind == 'frame' else {}
        attack(group, f'{name}: {kind}', at(kind, answer), **{**options, **later})


def raw(data):
    return lambda self: (self.peer.send(data), self.peer.connection.shutdown(socket.SHUT_RDWR))


def body(data, *headers, status='200 OK'):
    return lambda self: self.send(data, *headers, status=status)


def packed(pieces, level=9):
    """Yields a body that is compressed while it is made, because what this process holds would count for camp."""
    squeeze = zlib.compressobj(level, wbits=31)
    for piece in pieces:
        yield squeeze.compress(piece)
    yield squeeze.flush()


def streamed(pieces_of):
    """An answer that is compressed while it is sent. `pieces_of()` yields its parts."""
    def answer(self):
        self.peer.send(b'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n')
        for piece in packed(pieces_of(), 1):
            if piece:
                self.peer.send(f'{len(piece):x}\r\n'.encode() + piece + b'\r\n')
        self.peer.send(b'0\r\n\r\n')
    return answer


def repeated(text, count):
    block = max(1, (1 << 16) // len(text))
    for at_ in range(0, count, block):
        yield text * min(block, count - at_)


def zipped(*pieces):
    """The pieces are texts, or a text and how often it is repeated."""
    return streamed(lambda: itertools.chain.from_iterable(
        repeated(*(piece if isinstance(piece, tuple) else (piece, 1))) for piece in pieces))


def generated(head, texts_of, tail):
    def pieces():
        texts = texts_of()
        return itertools.chain([head], iter(lambda: b''.join(itertools.islice(texts, 1024)), b''), [tail])
    return streamed(pieces)


VECTOR = b'{"status":"success","data":{"resultType":"vector","result":['
MATRIX = b'{"status":"success","data":{"resultType":"matrix","result":['
END = b'{"metric":{},"value":[1,"1"]}]}}'
LONG_KINDS = ('probe', 'frame')  # of 64 MB, which take seconds of CPU

# HTTP itself.
each('http', 'nothing', raw(b''))
each('http', 'no HTTP', raw(NASTY * 10))
each('http', 'an answer of HTTP/0.9', raw(VECTOR + END))
each('http', 'a status without a number', raw(b'HTTP/1.1 OK\r\n\r\n'))
each('http', 'half a header', raw(b'HTTP/1.1 200 OK\r\nContent-'))
each('http', 'a header without end', lambda self: (
    self.peer.send(b'HTTP/1.1 200 OK\r\nX: '), self.peer.endless(b'A')))
each('http', 'header lines without end', lambda self: (
    self.peer.send(b'HTTP/1.1 200 OK\r\n'), self.peer.endless(b'X: y\r\n')))
each('http', '100 Continue without end', lambda self: self.peer.endless(b'HTTP/1.1 100 Continue\r\n\r\n'))
each('http', 'trailers without end', lambda self: (
    self.peer.send(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n'), self.peer.endless(b'X: y\r\n')))
each('http', 'a length that is too long', raw(b'HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n' + VECTOR))
each('http', 'a length beyond 64 bits', raw(b'HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n' + VECTOR))
each('http', 'a chunk without a length', raw(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'))
each('http', 'a chunk of 2^60 bytes', lambda self: (
    self.peer.send(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n'), self.peer.endless(b' ')))
each('http', 'no content', raw(b'HTTP/1.1 204 No Content\r\n\r\n'))
each('http', 'an empty answer', body(b''))
each('http', 'an error with escapes', body(json.dumps({'status': 'error', 'error': TEXT}).encode(),
                                           status=f'422 {TEXT}'.replace('\n', '')), kinds=KINDS[:4], status=(2,))
each('http', 'an error page without end', lambda self: (
    self.peer.send(b'HTTP/1.1 500 No\r\n\r\n'), self.peer.endless(b'<p>')))
each('http', 'an error with a reason of 60 KB', body(b'{"error":"' + b'A' * 60000 + b'"}', status='503 No'))


# Another place: nothing is asked there.
def trapped(status, *headers):
    """Sends an answer that names another server. A client that connects there is reported as having sent the password."""
    def answer(self):
        trap = socket.create_server(('127.0.0.1', 0))

        def wait():
            try:
                trap.accept()
                self.peer.seen += PASSWORD.encode()
            except OSError:
                pass
        threading.Thread(target=wait, daemon=True).start()
        port = trap.getsockname()[1]
        self.send(b'', *(header.format(port=port) for header in headers), status=status)
        time.sleep(0.5)
        trap.close()
    return answer


for code in (301, 302, 303, 307, 308):
    each('redirects', f'status {code}', trapped(f'{code} Away', 'Location: http://127.0.0.1:{port}/'), kinds=('probe', 'frame'))
each('redirects', 'a refresh and an alternative', trapped(
    '200 OK', 'Refresh: 0; url=http://127.0.0.1:{port}/', 'Alt-Svc: http/1.1="127.0.0.1:{port}"'), kinds=('probe',))
each('redirects', 'to a file', body(b'', 'Location: file:///etc/passwd', status='302 Away'), kinds=('probe',), says='status 302')
each('redirects', 'to escapes', body(b'', f'Location: {TEXT}'.replace('\n', ''), status='302 Away'), kinds=('probe',))
for scheme in ('Basic realm="x"', 'Digest realm="x", nonce="y"', 'Negotiate', 'NTLM'):
    for code in (401, 407):
        each('redirects', f'status {code}, {scheme.split()[0]}', body(
            b'', f'{"WWW" if code == 401 else "Proxy"}-Authenticate: {scheme}', status=f'{code} No'), kinds=('probe',),
             status=(4,) if code == 401 else (1,))

# Compressed answers. A frame of zstd declares a window of 128 MB, and has blocks that repeat one letter.
ZSTD = b'\x28\xb5\x2f\xfd\x00' + bytes([17 << 3]) + (b'\x02\x00\x10' + b' ') * 500
each('bombs', 'series that are empty objects', zipped(VECTOR, (b'{},', 24 << 20), END), kinds=LONG_KINDS, says='longer than 64 MB')
each('bombs', 'series that are empty objects, below 64 MB', zipped(VECTOR, (b'{},', 21 << 20), END), kinds=LONG_KINDS,
     status=(0,))
each('bombs', 'series without labels', zipped(VECTOR, (b'{"metric":{},"value":[1,"1"]},', 2 << 20), END),
     says='more than 24 MB of labels and samples')
each('bombs', 'empty arrays', zipped(b'[', (b'[],', 24 << 20), b'[]]'), kinds=LONG_KINDS)
each('bombs', 'blanks', zipped((b' ', 100 << 20)), says='64 KB without a value')
each('bombs', 'a text of 1 GB', zipped(b'{"status":"', (b'A', 1 << 30)), says='64 KB without a value')
each('bombs', 'a bomb in a bomb', body(b''.join(packed(packed(repeated(b' ', 64 << 20)))), 'Content-Encoding: gzip, gzip'))
each('bombs', 'zstd with a window of 128 MB', body(ZSTD, 'Content-Encoding: zstd'), says='encoding')
each('bombs', 'brotli', body(b'\x8b\x00\x80\x00\x00\x00', 'Content-Encoding: br'), says='encoding')
each('bombs', 'a coded transfer', body(ZSTD, 'Transfer-Encoding: zstd'), says='encoding')
each('bombs', 'no gzip', body(b'evil' * 100, 'Content-Encoding: gzip'))
each('bombs', 'half of a gzip', body(b''.join(packed([VECTOR + END]))[:-20], 'Content-Encoding: gzip'))
each('bombs', 'without end', lambda self: (
    self.peer.send(b'HTTP/1.1 200 OK\r\n\r\n' + VECTOR), self.peer.endless(b'{"metric":{"a":"b"},"value":[1,"1"]},')),
     kinds=LONG_KINDS)

# JSON.
each('json', 'arrays in arrays', zipped((b'[', 10 << 20)), says='too many levels')
each('json', 'objects in objects', zipped((b'{"data":', 5 << 20)), says='too many levels')
each('json', 'arrays in a label', zipped(VECTOR, b'{"metric":{"a":', (b'[', 10 << 20)), says='too many levels')
each('json', 'a key of 10 MB', zipped(b'{"', (b'k', 10 << 20), b'":1}'), says='64 KB without a value')
each('json', 'a number of 10 MB', zipped(VECTOR, b'{"value":[', (b'9', 10 << 20), b',"1"]}]}}'), says='64 KB without a value')
each('json', 'no end', body(VECTOR))
each('json', 'an answer and another', body(VECTOR + END + VECTOR + END))
each('json', 'NUL', body((VECTOR + END).replace(b'"metric":{}', b'"metric":{"instance":"a\\u0000b"}')), says='no UTF-8')
each('json', 'a raw NUL', body((VECTOR + END).replace(b'"metric":{}', b'"metric":{"instance":"a\0b"}')))
each('json', 'half of a surrogate', body((VECTOR + END).replace(b'{}', b'{"instance":"\\udc00"}')), says='no UTF-8')
each('json', 'no UTF-8', body((VECTOR + END).replace(b'{}', b'{"instance":"\xff\xc0\x80"}')))
each('json', 'the type of another answer', body(VECTOR.replace(b'vector', b'string') + b'1,"x"]}}'))
each('json', 'a type with escapes', body(answer_of(TEXT, [])))
for wrong in ('1', '"x"', 'null', 'true', '[]', '[[]]', '{}', '{"data":1}', '{"data":{"resultType":1,"result":[]}}',
              '{"data":{"resultType":"vector","result":{}}}', '{"data":{"resultType":"matrix","result":"x"}}'):
    each('json', f'wrong types: {wrong}', body(wrong.encode()), kinds=('probe', 'first', 'frame'))


# Series: their labels and their names.
def changed(kinds, counters=None, name='Rogue', **members):
    """A server whose counters are those of `counters(self, now)`."""
    def answers(self, asked):
        honest = self if asked in kinds else Prometheus(self.peer)
        Prometheus.answer(honest, asked)
    return type(name, (Prometheus,), {'answer': answers, **members, **{
        key: value for key, value in (('counters', counters),) if value}})


def named(text):
    return changed(KINDS, hosts=(text, text + '2'))


def label_names(self, now):
    for labels, value in Prometheus.counters(self, now):
        yield {TEXT: TEXT, '': 'x', 'a\u009bb': 'y', **labels}, value


def wide(count):
    def counters(self, now):
        for labels, value in Prometheus.counters(self, now):
            yield {**{f'label{i}': TEXT for i in range(count)}, **labels}, value
    return counters


attack('series', 'hosts with escapes', named('host' + TEXT), status=(0,))
attack('series', 'hosts of 60 KB', named('A' * 60000), status=(0,))
attack('series', 'labels with escapes', changed(KINDS, counters=label_names), status=(0,))
attack('series', 'with 60 labels', changed(KINDS, counters=wide(60)), status=(0,))
attack('series', 'with 1,000 labels', changed(KINDS, counters=wide(1000)), status=(0,))
attack('series', '300 states', changed(KINDS, counters=lambda self, now: (
    ({'__name__': 'camp_cpu_measured_seconds_total', 'mode': f'mode{i}', 'instance': 'a'}, now) for i in range(300))),
       status=(2,), says='more than 90 states')
attack('series', '80 states with escapes', changed(KINDS, counters=lambda self, now: (
    ({'__name__': 'camp_cpu_measured_seconds_total', 'mode': f'{TEXT}{i}', 'instance': 'a'}, now) for i in range(80))),
       status=(0,))


def host_series(count, sample, labels=''):
    """Many hosts with the counters that camp asks for."""
    for i in range(count):
        yield (f'{{"metric":{{"__name__":"camp_cpu_measured_seconds_total","mode":"user","instance":"host-{i}"'
               f'{labels.format(i=i)}}},{sample}}},').encode()


FRAMES = {'command': ('top', '--count', '4', '--interval', '500ms')}
NOW = time.time()
TWO = f'"values":[[{NOW - 1:.3f},"1"],[{NOW:.3f},"2"]]'
# the last seven labels differ between hosts, so that the tuples of labels are many and long
LONG = ''.join(f',"l{k}":"{"x" * 112}{{i}}"' for k in range(7))
LAST = b'{"metric":{"instance":"z"},"values":[]}]}}'
for kind in ('first', 'snapshot', 'frame'):
    each('sizes', '300,000 hosts', generated(MATRIX, lambda: host_series(300000, TWO), LAST), kinds=(kind,),
         says='; select fewer', **FRAMES)
    each('sizes', '40,000 hosts with labels of 1 KB', generated(
        MATRIX, lambda: host_series(40000, TWO, LONG), LAST), kinds=(kind,), says='; select fewer', **FRAMES)
    each('sizes', '10,000 hosts', generated(MATRIX, lambda: host_series(10000, TWO), LAST), kinds=(kind,),
         status=(0,), **FRAMES)


each('sizes', '60,000 hosts', generated(MATRIX, lambda: host_series(60000, TWO), LAST), kinds=('first',),
     says='its rows and samples need more memory than camp gives them')


def sample_texts(count, step, start=1000.0):
    return (f'[{start + step * i:.3f},"{i}"],'.encode() for i in range(count))


ONE = MATRIX + b'{"metric":{"__name__":"camp_cpus","instance":"a"},"values":['
OTHER = b'[1e9,"1"]]},{"metric":{"__name__":"camp_clock_seconds_total","instance":"a"},"values":['
each('sizes', '3 million samples', generated(ONE, lambda: sample_texts(3000000, 0.5), b'[9e8,"1"]]}]}}'), kinds=('first',),
     says='; select fewer')
each('sizes', 'samples in descending order', generated(ONE, lambda: sample_texts(1000000, -0.5, 1e6), b'[9e8,"1"]]}]}}'),
     kinds=('first',), status=(0,))
each('sizes', 'samples before those of another series', generated(
    ONE, lambda: itertools.chain(sample_texts(120000, 0.5, 1e6), [OTHER], sample_texts(120000, 0.5)), b'[9e8,"1"]]}]}}'),
     kinds=('first',), says='disorder')



class Changing(Prometheus):
    """Each answer has other hosts, and is an hour later than the one before, so that camp forgets the earlier hosts."""

    def counters(self, now):
        for labels, value in super().counters(now):
            yield {**labels, **{f'l{k}': 'x' for k in range(7)}}, value

    def answer(self, asked):
        if asked in ('probe', 'first'):
            super().answer(asked)
            return
        now = time.time() + 3600 * self.snapshots
        if asked == 'marks':
            self.send(answer_of('vector', [series({'camp_part': 'now'}, value=pair(now, now))]))
            return
        if asked == 'sampled':
            self.send(answer_of('matrix', []))
            return
        first = 6000 * self.snapshots
        texts = (f'{{"metric":{{"__name__":"camp_cpus","job":"camp","instance":"{first + i}"{LONG.format(i=first + i)}}},'
                 f'"values":[[{now:.3f},"4"]]}},' .encode() for i in range(6000))
        generated(MATRIX, lambda: texts, LAST)(self)


attack('long', 'hosts that change', Changing, status=(0,), needs='time', promise_s=40,
       command=('top', '--count', '30', '--interval', '1s'))

# Numbers.
for text in ('1e308', '-1e308', 'NaN', '+Inf', '', 'x', '0x10', '1' * 400, '1e999', '9e18'):
    attack('numbers', f'counters that are {text[:12]}', changed(
        KINDS, counters=lambda self, now, text=text: ((labels, text) for labels, _ in Prometheus.counters(self, now))),
        status=(0,))
for name, number in (('1e308', '1e308'), ('negative', '-5'), ('NaN', 'NaN'), ('tiny', '1e-300'), ('no number', 'x')):
    each('numbers', f'a probe that counts {name}', body(answer_of('vector', [
        series({'camp_part': part}, value=[NOW, number]) for part in ('count', 'recent', 'now', 'job', 'x')])),
         kinds=('probe',), status=(0,))
for name, time_ in (('1e300', 1e300), ('9e9', 8.999e9), ('0', 0), ('negative', -1e9), ('a text', 'x'), ('null', None)):
    each('numbers', f'a time that is {name}', body(answer_of('vector', [
        series({'camp_part': 'now'}, value=[time_, '1']), series({'camp_part': 'down', 'instance': 'a'}, value=[time_, '0']),
        series({'__name__': 'camp_cpus', 'instance': 'a'}, value=[time_, '4'])])), kinds=('probe', 'marks', 'snapshot', 'frame'), status=(0,))
for name, step in (('1 ms', 0.001), ('a year', 3e7), ('100 years', 3e9)):
    each('numbers', f'scrapes every {name}', body(answer_of('matrix', [
        series({'__name__': metric, 'instance': 'a'}, values=[pair(1 + step * i, i) for i in range(3)])
        for metric in ('camp_cpus', 'camp_clock_seconds_total', 'camp_cpu_measured_seconds_total')])), kinds=('first',), status=(0,))
    each('numbers', f'a history with scrapes every {name}', body(answer_of('matrix', [
        series({'__name__': metric, 'instance': 'a'}, values=[pair(NOW - 300 + step * i, i) for i in range(3)])
        for metric in ('camp_cpus', 'camp_clock_seconds_total', 'camp_cpu_measured_seconds_total')])), kinds=('first',),
         status=(0,), command=('top', '--count', '3', '--begin', '-10m', '--end', '-1m'))

# Time. camp waits for a frame's answer for less than a second, so that a frame without it is shown.
STALLS = {
    'before the header': lambda self: self.peer.stall(),
    'within the header': lambda self: (self.peer.send(b'HTTP/1.1 200 OK\r\nContent-'), self.peer.stall()),
    'before the body': lambda self: (self.peer.send(b'HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n'), self.peer.stall()),
    'within the body': lambda self: (self.peer.send(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n' + VECTOR), self.peer.stall()),
    'a header byte by byte': lambda self: (self.peer.send(b'HTTP/1.1 200 OK\r\n'), self.peer.drip(b'X: y\r\n')),
    'a body byte by byte': lambda self: (self.peer.send(b'HTTP/1.1 200 OK\r\n\r\n' + VECTOR), self.peer.drip(
        b'{"metric":{"instance":"a"},"value":[1,"1"]},')),
}
for name, stalled in STALLS.items():
    each('long', f'stalls {name}', stalled, promise_s=ANSWER_S, kinds=KINDS[:4], says='timed out', needs='time')
    each('frames', name, stalled, kinds=('frame',), status=(0,))
    for signal in ('INT', 'TERM'):
        each('signals', f'{signal}, {name}', stalled, kinds=('probe', 'first'), says='interrupted', status=(1,),
             before=('timeout', '--foreground', '--preserve-status', '--signal', signal, '1'))

# Another machine: the driver runs in a network namespace with this address.
ELSEWHERE = '192.0.2.1'
for name, environment, prefix in (
        ('a token', {'CAMP_PROMETHEUS_TOKEN': PASSWORD}, ''), ('a file', {'CAMP_PROMETHEUS_TOKEN_FILE': '/dev/null'}, ''),
        ('a password', {}, f'u:{PASSWORD}@'), ('another permission', {'CAMP_PROMETHEUS_TOKEN': PASSWORD, PLAIN: 'no'}, '')):
    attack('remote', f'{name} without TLS', Prometheus, status=(4,), says='only through TLS', host=ELSEWHERE, needs='namespace',
           environment=environment, prefix=prefix)
attack('remote', 'no password', Prometheus, status=(0,), host=ELSEWHERE, needs='namespace', environment={})
attack('remote', 'a permission', Prometheus, status=(0,), host=ELSEWHERE, needs='namespace',
       environment={'CAMP_PROMETHEUS_TOKEN': 'token', PLAIN: 'yes'})
attack('remote', 'a proxy elsewhere', Prometheus, status=(1,), says='Connection refused', host=ELSEWHERE, needs='namespace',
       environment={'CAMP_PROMETHEUS_TOKEN': PASSWORD, 'http_proxy': 'http://{place}', 'NO_PROXY': ''}, place='127.0.0.1:1')


def client(attacked, listener, folder):
    options = attacked.client
    place = options.get('place', f'{options.get("prefix", "")}{options["host"]}:{listener.port}') if listener.port else (
        f'unix:{folder}/socket')
    given = options.get('environment', {'CAMP_PROMETHEUS_TOKEN': 'token'})
    environment = environment_of(folder, **{'NO_PROXY': '*', **{
        name: value.format(place=f'{ELSEWHERE}:{listener.port}') for name, value in given.items()}})
    command = [*options.get('before', ()), camp(), *options.get('command', ('top', '--count', '2', '--interval', '200ms')),
               '--from', f'prometheus:{place}']
    return command, environment


if __name__ == '__main__':
    Driver('Prometheus', ATTACKS, lambda peer: Prometheus(peer).serve(), client).main()
