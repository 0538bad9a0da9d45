"""A client of `camp view` and its stream (docs/stream.md): starts a server, asks, and reads blocks."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time

KEY = 1
HEAD, ENTITIES, FRAME, BEAT, END, NOTE, CPUS, CAUSES = range(1, 9)


class Server:
    """A running `camp view`."""

    def __init__(self, camp, arguments):
        self.process = subprocess.Popen([camp, "view", *arguments], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"http://([^:]+):(\d+)/#([0-9a-f]{32})\n", line)
        if not found:
            self.process.kill()
            self.process.wait()
            raise OSError(f"camp view did not say its address: {line!r}")
        self.port = int(found[2])
        self.token = found[3]
        self.host = f"{found[1]}:{self.port}"
        self.path = arguments[arguments.index("--socket") + 1] if "--socket" in arguments else None

    def connect(self, small=False):
        """With `small`, the receive buffer is small, so the kernel stores little for a client that does not read."""
        sock = socket.socket(socket.AF_UNIX if self.path else socket.AF_INET)
        if small:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(10)
        sock.connect(self.path if self.path else ("127.0.0.1", self.port))
        return sock

    def request(self, target="/stream", method="GET", host=None, token=None, version="1.1", more=()):
        token = self.token if token is None else token
        lines = [f"{method} {target} HTTP/{version}", f"Host: {host or self.host}"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        return ("\r\n".join([*lines, *more]) + "\r\n\r\n").encode("latin-1")

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def sockets(self):
        names = []
        for entry in os.scandir(f"/proc/{self.process.pid}/fd"):
            try:
                names.append(os.readlink(entry.path))
            except OSError:
                pass
        return sum(name.startswith("socket:") for name in names)

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) / 1000

    def stop(self):
        """Sends SIGTERM. Returns the exit status, and the seconds until the exit."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        return status, time.monotonic() - begin


class Answer:
    """An answer: status and headers; the body is read as it arrives."""

    def __init__(self, sock):
        self.file = sock.makefile("rb")
        self.lines = []
        while True:
            line = self.file.readline().decode("latin-1").rstrip("\r\n")
            if not line:
                break
            self.lines.append(line)
        self.status = int(self.lines[0].split()[1]) if self.lines else 0
        self.headers = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip()
                        for line in self.lines[1:]}

    def body(self):
        if "content-length" in self.headers:
            return self.file.read(int(self.headers["content-length"]))
        return self.file.read()

    def pieces(self):
        """The next bytes of a chunked body."""
        while True:
            size = self.file.readline()
            if not size:
                raise EOFError("the answer was cut off")
            size = int(size, 16)
            piece = self.file.read(size)
            self.file.readline()
            if size == 0:
                return
            yield piece

    def blocks(self):
        """The next block of the stream: (type, payload)."""
        data = b""
        for piece in self.pieces():
            data += piece
            while len(data) >= 8:
                size, kind = struct.unpack_from("<II", data)
                whole = 8 + (size + 7) // 8 * 8
                if len(data) < whole:
                    break
                yield kind, data[8:8 + size]
                data = data[whole:]
        if data:
            raise ValueError("half a block at the end")


def ask(server, raw, **options):
    """Returns the status and headers of an answer. Status 0 means that the connection was closed without an answer."""
    sock = server.connect(**options)
    try:
        sock.sendall(raw)
        return Answer(sock)
    except (ConnectionError, BrokenPipeError):
        return type("Closed", (), {"status": 0, "headers": {}, "body": lambda self: b""})()
    finally:
        sock.close()


class Reader(threading.Thread):
    """A client that reads the stream, and checks each block."""

    def __init__(self, server, sock=None):
        """`sock` is a connection that has sent a request."""
        super().__init__(daemon=True)
        self.counts = dict.fromkeys(range(1, 9), 0)
        self.ends = []  # wall clock of the frames, ms
        self.came = []  # arrival of the frames, s
        self.head = self.problem = self.reason = self.last = None
        self.entities = set()
        self.notes = []
        self.is_over = False
        self.sock = sock or server.connect()
        if sock is None:
            self.sock.sendall(server.request())

    def run(self):
        try:
            for kind, payload in Answer(self.sock).blocks():
                self.take(kind, payload)
            self.is_over = True
        except (EOFError, OSError, ValueError) as problem:
            self.problem = repr(problem)

    def take(self, kind, payload):
        if not any(self.counts.values()) and kind != HEAD:
            raise ValueError("the first block is no head")
        self.counts[kind] += 1
        self.last = kind
        if kind == HEAD:
            self.head = json.loads(payload)
        elif kind == ENTITIES:
            self.entities.update(entity["n"] for entity in json.loads(payload))
            if self.entities and max(self.entities) >= len(self.entities):
                raise ValueError("the numbers of entities have gaps")
        elif kind == FRAME:
            self.take_frame(payload)
        elif kind == NOTE:
            self.notes.append(json.loads(payload)["text"])
        elif kind == END:
            self.reason = json.loads(payload)["reason"]

    def take_frame(self, payload):
        end_ms, _, _, flags, count, gone = struct.unpack_from("<dddIII", payload)
        if not self.ends and not flags & KEY:
            raise ValueError("the first frame is no key frame")
        numbers = struct.unpack_from(f"<{gone + count}I", payload, 64)
        if not self.entities.issuperset(numbers):
            raise ValueError("a frame has unknown entities")
        self.ends.append(end_ms)
        self.came.append(time.monotonic())

    def wait(self, frames, timeout=20):
        """Reads until it has this many frames."""
        end = time.monotonic() + timeout
        while len(self.ends) < frames and self.is_alive() and time.monotonic() < end:
            time.sleep(0.01)
        return len(self.ends) >= frames

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.join(5)


def started(server, sock=None):
    reader = Reader(server, sock)
    reader.start()
    return reader
