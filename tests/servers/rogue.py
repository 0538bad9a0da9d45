"""Rogue servers: attacks on camp by the servers that it reads, and what camp must do with each of them.

An attack is a server that answers wrongly in one way. It listens on a Unix socket or on 127.0.0.1, serves one run of
camp, and ends with it. The driver checks the run:

- no signal ended camp, and camp ended in time: the documentation's promises, with a wide margin;
- a failure is one line on stderr with the expected exit status; otherwise there is a frame;
- no output has a control character of the server;
- the server got no password and no file;
- camp used less than 64 MB more than with an honest server.

The peak memory of a process includes that of its parent before exec(2). So a small process starts camp (LAUNCHER), not
this one, whose memory grows.
"""
import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MEMORY_KB = 64 * 1024
AGAIN_MOST = 3
MARGIN_S = 15  # beyond twice the promised time: the machine may be busy
PASSWORD = 'sesame'
FILE_TEXT = 'content-of-a-private-file'
# ESC [ 2 J, the same in C1 as UTF-8 and as a byte, BEL, NUL, a line feed, an override of direction
NASTY = b'\x1b[2J\xc2\x9b2J\x9b2J\x07\x00\n\xe2\x80\xaeevil'
# What an output must not have: C0 except line feed and tab, DEL, and C1 as UTF-8. A byte 0x80-0x9f is also a part of
# ordinary UTF-8, so it counts only if the text is no UTF-8.
CONTROLS = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udc9f]')


class Attack:
    """`serve(peer)` serves one connection, a Peer, and may return at any time. `promise_s` is how long the
    documentation lets camp take. `status` has the permitted exit statuses; 0 means that a frame is expected.
    `says` is a part of the line on stderr. `client` has more options of this attack's client. With `may_know` the
    server may get the password."""

    def __init__(self, group, name, serve, *, status=(1,), says='', promise_s=2, **client):
        self.group, self.name, self.serve = group, name, serve
        self.status, self.says, self.promise_s, self.client = status, says, promise_s, client


def answering(kind, answer, base):
    """A server that is honest, as `base` is, but for the answer to statements of this kind."""
    def answers(self, asked):
        if asked == kind:
            answer(self)
        else:
            base.answer(self, asked)
    return type('Rogue', (base,), {'answer': answers})


class Peer:
    """The connection to camp: sends, receives exactly, and remembers what it received. All connections of an attack
    share the dictionary `known`."""

    def __init__(self, connection, ended, folder, known):
        self.connection, self.ended, self.folder, self.known = connection, ended, folder, known
        self.seen = bytearray()

    def send(self, data):
        self.connection.sendall(data)

    def receive(self, size):
        data = b''
        while len(data) < size:
            more = self.connection.recv(size - len(data))
            if not more:
                raise ConnectionError('camp closed the connection')
            data += more
        if len(self.seen) < 1 << 20:
            self.seen += data
        return data

    def stall(self):
        """Keeps the connection without a word until camp ends."""
        self.ended.wait()

    def fill(self, size):
        """Sends so many letters. They are never one text here, because that memory would count for camp."""
        block = b'A' * (1 << 16)
        for at in range(0, size, len(block)):
            self.send(block[:size - at])

    def endless(self, data):
        """Sends the same bytes until camp closes the connection or ends."""
        block = data * max(1, (1 << 18) // len(data))
        while not self.ended.is_set():
            self.send(block)

    def drip(self, data):
        """Sends a byte each 20 ms, again and again."""
        while not self.ended.is_set():
            for at in range(len(data)):
                self.send(data[at:at + 1])
                if self.ended.wait(0.02):
                    return


class Listener:
    """Serves connections on a Unix socket (`path`) or on a TCP port of `host`, each in a thread."""

    def __init__(self, serve, folder, path=None, host='127.0.0.1'):
        self.serve, self.folder, self.ended = serve, folder, threading.Event()
        self.peers, self.failures, self.known = [], [], {}
        if path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.bind(path)
            os.chmod(path, 0o777)
        else:
            self.socket = socket.create_server((host, 0))
        self.socket.listen(16)
        self.port = None if path else self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while not self.ended.is_set():
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            peer = Peer(connection, self.ended, self.folder, self.known)
            self.peers.append(peer)
            threading.Thread(target=self.serve_one, args=(peer,), daemon=True).start()

    def serve_one(self, peer):
        try:
            self.serve(peer)
        except OSError:
            pass  # camp closed the connection
        except Exception as failure:  # pylint: disable=broad-except
            self.failures.append(repr(failure))  # a mistake of the test itself
        finally:
            peer.connection.close()

    def close(self):
        """Ends accept() too, which close() alone would not."""
        self.ended.set()
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def seen(self):
        return b'\n'.join(bytes(peer.seen) for peer in self.peers)


LAUNCHER = """
import os, sys
pid = os.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
os.write(int(os.environ["REPORT"]), f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss}".encode())
"""


class Run:
    """One run of camp: status (negative: a signal), peak memory, time, stdout and stderr."""

    def __init__(self, command, environment, limit_s):
        start = time.monotonic()
        reader, writer = os.pipe()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            launcher = subprocess.Popen([sys.executable, '-S', '-E', '-c', LAUNCHER, *command], stdin=subprocess.DEVNULL,
                                        stdout=out, stderr=err, env={**environment, 'REPORT': str(writer)},
                                        pass_fds=[writer], start_new_session=True)
            os.close(writer)
            timer = threading.Timer(limit_s, os.killpg, (launcher.pid, signal.SIGKILL))
            timer.start()
            launcher.wait()
            timer.cancel()
            report = os.read(reader, 100).split()
            os.close(reader)
            self.is_late = not report
            self.status, self.memory_kb = map(int, report or (-signal.SIGKILL, 0))
            self.seconds = time.monotonic() - start
            self.out, self.err = (self.text(stream) for stream in (out, err))

    @staticmethod
    def text(stream):
        stream.seek(0)
        return stream.read().decode('utf-8', 'surrogateescape')


def verdict(attack, run, listener, honest_kb, prompt=''):
    """Returns what is wrong, or ''."""
    wrongs = list(listener.failures)
    lines = run.err.splitlines()
    if run.is_late:
        wrongs.append('did not end')
    elif run.status < 0:
        wrongs.append(f'signal {-run.status}')
    elif run.status not in attack.status:
        wrongs.append(f'status {run.status}, not {attack.status}')
    if run.status > 0 and len(lines) != 1:
        wrongs.append(f'{len(lines)} lines on stderr')
    if run.status == 0 and len(lines) > 1:
        wrongs.append(f'{len(lines)} lines on stderr beside a frame')
    if run.status == 0 and not run.out.strip():
        wrongs.append('no frame')
    if attack.says not in run.err + (run.out if run.status == 0 else ''):
        wrongs.append(f"does not say '{attack.says}'")
    for name, text in (('stdout', run.out), ('stderr', run.err)):
        found = CONTROLS.search(text)
        if found:
            wrongs.append(f'control character {found.group()!r} on {name}')
        if prompt and prompt in text:
            wrongs.append(f'the prompt of the server on {name}')
    if PASSWORD.encode() in listener.seen() and not attack.client.get('may_know'):
        wrongs.append('the password was sent in clear')
    if FILE_TEXT.encode() in listener.seen():
        wrongs.append('a file was sent')
    if run.memory_kb - honest_kb >= MEMORY_KB:
        wrongs.append(f'{(run.memory_kb - honest_kb) // 1024} MB more than with an honest server')
    return '; '.join(wrongs)


class Driver:
    """`client(attack, listener, folder)` returns the command and the environment of a run. `honest` is served to
    learn how much memory a run needs. `use_path` is false for servers that are reached by TCP only."""

    def __init__(self, name, attacks, honest, client, path_of=lambda folder: str(folder / 'socket')):
        self.name, self.attacks, self.client, self.path_of = name, attacks, client, path_of
        self.honest = Attack('honest', 'honest', honest, status=(0,))

    def run(self, attack, folder):
        folder.mkdir()
        (folder / 'private').write_text(FILE_TEXT)
        host = attack.client.get('host')
        listener = Listener(attack.serve, folder, None if host else self.path_of(folder), host)
        command, environment = self.client(attack, listener, folder)
        run = Run(command, environment, 2 * attack.promise_s + MARGIN_S)
        listener.close()
        return run, listener

    def report(self, attack, folder, honest_kb):
        run, listener = self.run(attack, folder)
        wrong = verdict(attack, run, listener, honest_kb, attack.client.get('prompt', ''))
        said = (run.err.splitlines() or ['a frame'])[0].encode('ascii', 'backslashreplace').decode()
        row = (f'{attack.group:9} {attack.name:44} {run.status:6} {run.seconds:7.1f} '
               f'{max(0, run.memory_kb - honest_kb) / 1024:6.1f}  {wrong and "WRONG: " + wrong + " | "}{said[:110]}')
        return row, bool(wrong)

    def main(self):
        parser = argparse.ArgumentParser(description=f'Attacks of a rogue {self.name} server on camp.')
        parser.add_argument('--jobs', type=int, default=8)
        parser.add_argument('words', nargs='*', help='groups of attacks, or parts of their names; all without')
        options = parser.parse_args()
        groups = {attack.group for attack in self.attacks}
        chosen = [attack for attack in self.attacks if not options.words and not attack.client.get('needs') or any(
            word == attack.group or word in attack.name and word not in groups for word in options.words)]
        with tempfile.TemporaryDirectory(prefix='camp-rogue-') as temporary:
            folder = Path(temporary)
            run, listener = self.run(self.honest, folder / 'honest')
            wrong = verdict(self.honest, run, listener, run.memory_kb)
            print(f'{"attack on " + self.name:54} status seconds +MB  what camp says; honest: '
                  f'{run.memory_kb // 1024} MB{wrong and " WRONG: " + wrong + run.err}')
            with ThreadPoolExecutor(options.jobs) as pool:
                reports = list(pool.map(
                    lambda job: self.report(job[1], folder / str(job[0]), run.memory_kb), enumerate(chosen)))
            late = [index for index, (_, is_wrong) in enumerate(reports) if is_wrong]
            # On a busy machine, camp's time limits may expire before the attack has had its effect. A few attacks that failed run again, alone.
            again = late if len(late) <= AGAIN_MOST else []
            for index in again:
                print(f'asked again: {reports[index][0]}')
                reports[index] = self.report(chosen[index], folder / f'{index}-again', run.memory_kb)
        for row, _ in reports:
            print(row)
        failed = sum(is_wrong for _, is_wrong in reports) + bool(wrong)
        print(f'{len(reports)} attacks, {failed} failed, {len(again)} asked again')
        sys.exit(1 if failed or not reports else 0)


def environment_of(folder, **more):
    """The environment of a client that finds no files of the user."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(('PG', 'MYSQL', 'MARIADB', 'LIBMYSQL'))}
    return {**kept, 'HOME': str(folder), 'LC_ALL': 'C.UTF-8', **more}


def certificate(folder, address):
    """Writes a certificate of `address`, which is its own authority, and returns the files."""
    files = folder / 'certificate.pem', folder / 'key.pem'
    subprocess.run(
        ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
         '-subj', '/CN=rogue', '-addext', f'subjectAltName=IP:{address}', '-out', files[0], '-keyout', files[1]],
        check=True, capture_output=True)
    return files


def camp():
    tree = Path(__file__).resolve().parents[2]
    return os.environ.get('CAMP', str(tree / 'build/gcc/src/camp'))
