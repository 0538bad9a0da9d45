#!/usr/bin/env python3
"""Attacks a running `camp view`, and checks the answers.

  attack.py CAMP NAME [ARGUMENT...]    starts CAMP view with the arguments, and attacks it

Prints a line for each attempt; exits with 1 after a wrong answer. There is a function attack_NAME for
each NAME.
"""

import contextlib
import json
import os
import random
import socket
import struct
import subprocess
import sys
import time

from stream_client import BEAT, CAUSES, END, FRAME, HEAD, Answer, Server, ask, started

HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
failures = 0


def tell(what, answered, right):
    global failures
    failures += not right
    print(f"{what:44} {answered}{'' if right else '   WRONG'}", flush=True)


def attack_rules(server):
    """Requests with right and wrong tokens, origins, host names and targets get the right status."""
    wrong = ("0" if server.token[0] != "0" else "1") + server.token[1:]
    own = f"http://{server.host}"
    tried = [
        ("the page", 200, dict(target="/", token="")),
        ("the page, HEAD", 200, dict(target="/", token="", method="HEAD")),
        ("the stream with its token", 200, {}),
        ("the stream, HEAD", 200, dict(method="HEAD")),
        ("the stream, from the page itself", 200, dict(more=("Sec-Fetch-Site: same-origin",
                                                             f"Origin: {own}"))),
        ("no token", 401, dict(token="")),
        ("no token, HEAD", 401, dict(token="", method="HEAD")),
        ("a wrong token", 401, dict(token=wrong)),
        ("a token that is too long", 401, dict(token=server.token + "0")),
        ("the token as basic authentication", 401,
         dict(token="", more=(f"Authorization: Basic {server.token}",))),
        ("the token in the query", 404, dict(target=f"/stream?token={server.token}", token="")),
        ("a Host that was bent to us", 421, dict(host=f"evil.example:{server.port}")),
        ("likewise for the page", 421, dict(target="/", host=f"evil.example:{server.port}")),
        ("a Host with another port", 200 if server.path else 421, dict(host="127.0.0.1:1")),
        ("a Host that begins as ours", 421, dict(host=f"127.0.0.1.evil.example:{server.port}")),
        ("two Hosts", 400, dict(more=(f"Host: evil.example:{server.port}",))),
        ("another page's script (Sec-Fetch-Site)", 403, dict(more=("Sec-Fetch-Site: cross-site",))),
        ("another port's page", 403, dict(more=("Sec-Fetch-Site: same-site",))),
        ("another page's link", 403, dict(target="/", token="",
                                          more=("Sec-Fetch-Site: cross-site",))),
        ("another page's Origin", 403, dict(more=("Origin: http://evil.example",))),
        ("a sandboxed page's Origin", 403, dict(more=("Origin: null",))),
        ("a preflight", 405, dict(method="OPTIONS", more=("Origin: http://evil.example",
                                                          "Access-Control-Request-Method: GET"))),
        *[(method, 405, dict(method=method)) for method in ("PUT", "DELETE", "TRACE", "BREW")],
        ("POST", 400, dict(method="POST", more=("Content-Length: 5",))),
        ("POST without a body", 405, dict(method="POST")),
        ("GET with a body", 400, dict(more=("Content-Length: 5",))),
        ("another path", 404, dict(target="/etc/passwd")),
        ("a path upwards", 404, dict(target="/../../etc/passwd")),
        ("a path in disguise", 404, dict(target="/%2e%2e/stream")),
        ("the stream in disguise", 404, dict(target="/%73tream")),
        ("a query", 404, dict(target="/?x=1")),
        ("an absolute target", 400, dict(target=f"{own}/stream")),
        ("an absolute target elsewhere", 400, dict(target="http://evil.example/stream")),
        ("HTTP 1.0", 200, dict(version="1.0", target="/", token="")),
    ]
    ask_all(server, tried)


def ask_all(server, tried):
    """Sends the requests (what, status, words of Server.request()), and checks the answers and their headers."""
    for what, expected, words in tried:
        answer = ask(server, server.request(**words))
        wrong = [name for name, value in HEADERS.items() if answer.headers.get(name) != value]
        wrong += [name for name in answer.headers if name.startswith("access-control-")]
        policy = answer.headers.get("content-security-policy", "")
        wrong += [] if "frame-ancestors 'none'" in policy else ["content-security-policy"]
        wrong += ["allow"] if expected == 405 and answer.headers.get("allow") != "GET, HEAD" else []
        wrong += ["www-authenticate"] if (expected == 401 and answer.headers.get(
            "www-authenticate") != "Bearer") else []
        said = f"{answer.status}{', headers: ' + ', '.join(wrong) if wrong else ''}"
        tell(what, said, answer.status == expected and not wrong)


def attack_causes(server):
    """With --why, the causes of each frame come before it, and no other target has them."""
    ask_all(server, [(target, 404, dict(target=target)) for target in ("/why", "/why/0", "/causes")])
    sock = server.connect()
    sock.sendall(server.request())
    kinds, sums, words = [], [], None
    for kind, payload in Answer(sock).blocks():
        if kind == HEAD:
            words = json.loads(payload)["causes"]
        elif kind == CAUSES:
            sums.append(sum_up(json.loads(payload), words))
        kinds += [kind] if kind in (FRAME, CAUSES) else []
        if kinds.count(FRAME) == 5:
            break
    sock.close()
    tell("causes and frames in turn", kinds, kinds == [CAUSES, FRAME] * 5)
    tell("all waits have causes", sums, all(groups > 3 and wait_ns > 0 and cpu_ns > 0 for groups, wait_ns, cpu_ns in sums))


def sum_up(causes, words):
    """Returns the number of groups, and the ns of waits and on a CPU of all of them."""
    numbers = {group[0] for group in causes["groups"]}
    on_cpu = words["kinds"].index("on_cpu")
    for group, state, kind, _, _ in causes["rows"]:
        assert group in numbers and state < len(words["states"]) and kind < len(words["kinds"]), causes
    return (len(numbers), sum(row[4] for row in causes["rows"] if row[2] != on_cpu),
            sum(row[4] for row in causes["rows"] if row[2] == on_cpu))


def is_small(server):
    """Returns whether the server has less than 100 MB. True under a sanitizer, which keeps freed memory."""
    return server.resident_mb() < 100 or "CAMP_SANITIZED" in os.environ


def end_requests(sock):
    """Ends the requests of a client. The server may have closed the connection already."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR)


def attack_garbage(server):
    """Invalid HTTP is refused or disconnected, and the server continues. A NUL ends a line of the header."""
    host = f"Host: {server.host}\r\n"
    tried = [
        ("no Host", f"GET / HTTP/1.1\r\n\r\n"),
        ("no target", f"GET\r\n{host}\r\n"),
        ("a NUL in the target", f"GET /\0stream HTTP/1.1\r\n{host}\r\n"),
        ("a NUL in a header", f"GET / HTTP/1.1\r\n{host[:-2]}\0.evil.example\r\n\r\n"),
        ("a target of 1 MB", f"GET /{'a' * 1000000} HTTP/1.1\r\n{host}\r\n"),
        ("a header of 1 MB", f"GET / HTTP/1.1\r\n{host}X: {'a' * 1000000}\r\n\r\n"),
        ("100,000 headers", f"GET / HTTP/1.1\r\n{host}{'a: b' + chr(13) + chr(10)}" * 100000),
        ("a folded Host", f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n .evil.example\r\n\r\n"),
        ("two answers at once", f"GET /x HTTP/1.1\r\n{host}\r\nGET /stream HTTP/1.1\r\n{host}\r\n"),
        ("a hidden request in a body", f"GET / HTTP/1.1\r\n{host}Content-Length: 9\r\n\r\nGET /stre"),
        ("half a request", "GET / HT"),
        ("TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + "\x00" * 200),
    ]
    for what, raw in tried:
        sock = server.connect()
        try:
            sock.sendall(raw.encode("latin-1"))
            end_requests(sock)
            status = Answer(sock).status
        except ConnectionError:
            status = 0
        sock.close()
        right = (200,) if "NUL" in what else (0, 400, 404, 414, 431)
        tell(what, status or "closed", status in right)
    random.seed(1)
    for _ in range(300):
        sock = server.connect()
        try:
            sock.sendall(random.randbytes(random.randrange(1, 3000)))
        except ConnectionError:
            pass
        sock.close()
    status = ask(server, server.request(target="/", token="")).status
    tell("after 300 times random bytes: the page", status, status == 200)


def streams_on(reader, what, crowd, server):
    """While many connections are open, a reader gets its stream, and a new client is accepted."""
    before = len(reader.ends)
    began = time.monotonic()
    held = crowd()
    page = ask(server, server.request(target="/", token=""))
    took = time.monotonic() - began
    whole = len(page.body()) > 10000 if page.status == 200 else False
    new = started(server)
    right = page.status == 200 and whole and new.wait(1) and reader.wait(before + 10)
    tell(what, f"a new client: {page.status} after {took:.2f} s, its stream: "
         f"{len(new.ends)} frames; who was there: {len(reader.ends) - before} more",
         right and not new.problem and not reader.problem)
    new.close()
    return held


def attack_crowd(server):
    """Idle, incomplete and slow connections keep no client out."""
    def silent():
        return [server.connect() for _ in range(1000)]

    def half():
        held = [server.connect() for _ in range(300)]
        for sock in held:
            try:
                sock.sendall(b"GET / HTTP/1.1\r\nX: ")
            except ConnectionError:
                pass
        return held

    def deaf():
        held = [server.connect(small=True) for _ in range(300)]
        for sock in held:
            try:
                sock.sendall(server.request(target="/", token=""))
            except ConnectionError:
                pass
        return held

    reader = started(server)
    reader.wait(1)
    for what, crowd in (("1,000 idle connections", silent), ("300 that send half a header", half),
                        ("300 that ask and do not read", deaf)):
        held = streams_on(reader, what, crowd, server)
        tell(f"  {what}: sockets of the server", server.sockets(), server.sockets() < 200)
        for sock in held:
            sock.close()
    times = [later - sooner for sooner, later in zip(reader.came, reader.came[1:])]
    tell("longest time between two frames", f"{max(times):.2f} s", max(times) < 2)
    reader.close()


def attack_streams(server):
    """Streams above the maximum are refused, and accepted when another one has ended."""
    held = []
    for _ in range(40):
        sock = server.connect()
        sock.sendall(server.request())
        held.append((sock, Answer(sock).status))
    statuses = [status for _, status in held]
    tell("40 streams at once", f"{statuses.count(200)} x 200, {statuses.count(503)} x 503",
         statuses.count(200) == 32 and statuses.count(503) == 8)
    for sock, _ in held:
        sock.close()
    end = time.monotonic() + 5
    while True:
        answer = ask(server, server.request())
        if answer.status == 200 or time.monotonic() > end:
            break
        time.sleep(0.1)
    tell("once they have gone", answer.status, answer.status == 200)


def attack_stuck(server):
    """While one client does not read, another gets all frames; then the first one continues."""
    stuck = server.connect(small=True)
    stuck.sendall(server.request())
    reader = started(server)
    enough = reader.wait(300, 60)
    steps = [later - sooner for sooner, later in zip(reader.ends, reader.ends[1:])]
    usual = sorted(steps)[len(steps) // 2]
    missing = sum(step > 1.5 * usual for step in steps)
    tell("beside one that does not read", f"{len(reader.ends)} frames, {missing} missing",
         enough and missing == 0 and not reader.problem)
    until = reader.ends[-1]
    late = started(server, stuck)
    end = time.monotonic() + 10
    while (not late.ends or late.ends[-1] < until) and time.monotonic() < end:
        time.sleep(0.01)
    tell("it reads again", f"{len(late.ends)} frames, told: {late.notes}",
         not late.problem and late.ends[-1] >= until and late.notes)
    tell("memory of the server", f"{server.resident_mb():.0f} MB", is_small(server))
    new = started(server)
    new.wait(10)
    tell("who comes now", f"begins {(reader.ends[-1] - new.ends[0]) / 1000:.0f} intervals ago",
         not new.problem and new.ends[0] > reader.ends[0])
    for client in (new, late, reader):
        client.close()


def attack_vanish(server):
    """Clients that vanish are detected, at the latest when the server sends a beat."""
    before = server.sockets()
    for _ in range(20):
        sock = server.connect()
        sock.sendall(server.request())
        Answer(sock)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    end = time.monotonic() + 5
    while server.sockets() > before and time.monotonic() < end:
        time.sleep(0.05)
    tell("20 streams that vanish: sockets left", server.sockets() - before,
         server.sockets() <= before)


def attack_beats(server):
    """With an interval of a minute, a client gets a beat each second."""
    reader = started(server)
    time.sleep(3.5)
    tell("in 3.5 s of silence", f"{reader.counts[BEAT]} beats", 2 <= reader.counts[BEAT] <= 4)
    reader.close()


def attack_ended(server):
    """After the end of the source, a new client gets all frames."""
    first = started(server)
    first.join(10)
    late = started(server)
    late.join(10)
    same = first.ends == late.ends and len(late.ends) > 0
    tell("the source has ended", f"{len(late.ends)} frames, {late.reason!r}",
         same and late.is_over and late.last == END and not late.problem)
    tell("it is served on", ask(server, server.request(target="/")).status,
         server.process.poll() is None)


def attack_taken(server):
    """A second camp view on the same port fails with advice."""
    done = subprocess.run([server.process.args[0], "view", "--from", "cpus", "--port",
                           str(server.port)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, timeout=120, check=False)
    tell("its port, once more", f"{done.returncode}: {done.stderr.strip()}",
         done.returncode == 1 and "another program uses port" in done.stderr)


def attack_stop(server):
    """A stopped server exits at once with any clients, and sends them the end of the stream."""
    held = [server.connect() for _ in range(20)]
    stuck = server.connect(small=True)
    stuck.sendall(server.request())
    reader = started(server)
    reader.wait(1)
    status, seconds = server.stop()
    reader.join(5)
    tell("SIGTERM", f"status {status} after {seconds:.2f} s", status == 0 and seconds < 1)
    tell("what the reader was told", repr(reader.reason), reader.reason == "camp view was stopped")
    for sock in (*held, stuck):
        sock.close()


def main():
    camp, name, *arguments = sys.argv[1:]
    server = Server(camp, arguments)
    try:
        globals()[f"attack_{name}"](server)
    finally:
        if server.process.poll() is None:
            status, seconds = server.stop()
            if status != 0:
                tell("its end", f"status {status} after {seconds:.2f} s", False)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
