"""The speed of the page: tests/browser/bench.mjs in Chromium with a display (Xvfb) and without a GPU.

Frames a second while all entities move and the tetrahedron turns; the age of a frame when it is
painted, for `camp view` of this machine's threads at 10 Hz, of which 1,000 wake ten times a second; the time
to open a recording of an hour; the longest standstill of the page while 500 sessions of a PostgreSQL server,
busy on the same CPUs, arrive once a second. The script's CPU time is shown too: concurrent load disturbs it least.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/commands"))

import attack  # noqa: E402
import recording  # noqa: E402
from servers import Servers  # noqa: E402
from table import Crowd, Failed  # noqa: E402

BROWSER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/browser")
FPS = {10000: 50, 30000: 30}  # entities: at least so many frames a second
LIMIT_FIRST_MS = 1000.0  # for 10,000 entities
LIMIT_P95_MS = 50.0
LIMIT_OPEN_MS = 2000.0
SECONDS = 15
SESSIONS = 500
TRANSACTIONS_A_SECOND = 1000  # of all sessions: some at work, the most idle
LIMIT_STALL_MS = 200.0

# The server's script prints how to connect once all sessions are there.
BUSY_SERVER = """
start_postgres max_connections=600
"$POSTGRES_BIN/pgbench" -i -q -h "$PG_FOLDER" -U camp_super postgres >/dev/null 2>&1
"$POSTGRES_BIN/pgbench" -n -S -c "$2" -R "$3" -T 120 -h "$PG_FOLDER" -U camp_super postgres \\
    >/dev/null 2>&1 </dev/null 3>&- &
SERVER_PIDS+=($!)
all_there() {
    [ "$(query_postgres "select count(*) from pg_stat_activity where application_name = 'pgbench'")" = "$1" ]
}
until_it all_there "$2"
echo "$PG"
"""


def install():
    done = subprocess.run([f"{BROWSER}/packages"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"the npm packages of tests/browser could not be installed: {done.stderr.strip()[-300:]}")


def browser(*words):
    done = subprocess.run(
        ["xvfb-run", "--auto-servernum", "--server-args=-screen 0 1600x1200x24", "node", "bench.mjs",
         *map(str, words)], cwd=BROWSER, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise Failed(f"bench.mjs {words[0]}: {done.stderr.strip()[-300:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def address(server):
    return f"http://{server.host}/#{server.token}"


def fps_records():
    return [{"part": "page", "what": "fps", "limit_frame_ms": 1000 / FPS[record["entities"]],
             "limit_first_ms": LIMIT_FIRST_MS * max(1, record["entities"] / 10000), **record}
            for record in browser("fps", *FPS)]


def live_record(build):
    with Crowd(build, 1000, True):
        server = attack.Server(f"{build}/src/camp", ["--from", "threads", "--interval", "100ms"])
        record = browser("live", address(server), SECONDS)[0]
        server.stop()
    return {"part": "page", "what": "live", "limit_p95_ms": LIMIT_P95_MS, **record}


def open_record(build, folder):
    path, _ = recording.written(build, folder, *recording.HOUR, 5)
    server = attack.Server(f"{build}/src/camp", ["--from", path])
    record = browser("open", address(server), recording.HOUR[1])[0]
    server.stop()
    return {"part": "page", "what": "open", "threads": recording.HOUR[0],
            "limit_open_ms": LIMIT_OPEN_MS, **record}


def stall_record(build):
    with Servers(BUSY_SERVER, SESSIONS, TRANSACTIONS_A_SECOND) as busy:
        server = attack.Server(f"{build}/src/camp",
                               ["--from", f"postgres:{busy.said}", "--interval", "1s"])
        record = browser("stall", address(server), SECONDS)[0]
        server.stop()
    return {"part": "page", "what": "stall", "sessions": SESSIONS, "limit_longest_ms": LIMIT_STALL_MS,
            **record}


def measure(build):
    """Returns the records, and the failures."""
    for program in ("node", "npm", "xvfb-run", "chromium"):
        if shutil.which(program) is None:
            return [{"part": "peer", "who": f"the page ({program})", "present": False}], []
    records, failures = [], []
    try:
        install()
    except (Failed, OSError) as error:
        return [], [f"page: {error}"]
    with tempfile.TemporaryDirectory(prefix="camp-bench-") as folder:
        for part in (fps_records, lambda: [live_record(build)],
                     lambda: [open_record(build, folder)], lambda: [stall_record(build)]):
            try:
                records += part()
            except (Failed, OSError, subprocess.TimeoutExpired) as error:
                failures.append(f"page: {error}")
    return records, failures
