"""The cost of `camp export --from postgres:`, by tier, compared with Debian's prometheus-postgres-exporter: CPU time of the
exporter's process and of its backends, its memory and its page, with the same 100 sessions, which are nearly idle.

camp samples between two scrapes as well, the other one works only while it is scraped. So two times are measured of each, in
turn: with one scrape in 15 s (the usual interval of Prometheus is 15 s to 1 min), and with thirty. A scrape is a 29th of their
difference, and what remains of the first is the cost of the samples.

The backends of an exporter are the sessions of clients that are new since it was started. The kernel's part on tier bpf is
not included: it is the cost of a switch (states).
"""

import gzip
import os
import subprocess
import time
import urllib.request

from export import ACCEPT, Exporter, find
from postgres import SESSIONS, TIERS, Server, cpu_ns
from table import Failed

PERIOD_S, SCRAPES = 15, 30
SETTLING_S = 3


def clients(server):
    """Returns the pids of all sessions of clients, without the session that asks."""
    done = subprocess.run(
        [f"{server.programs}/psql", "-XqAt", server.conninfo, "-c", "select pid from pg_stat_activity "
         "where backend_type = 'client backend' and pid <> pg_backend_pid()"],
        stdout=subprocess.PIPE, text=True, check=True, timeout=30)
    return {int(pid) for pid in done.stdout.split()}


def commands(build, server):
    """Returns the command and the environment of each exporter; no command: not installed."""
    peer = find("prometheus-postgres-exporter")
    peer = peer and [peer, "--web.listen-address=127.0.0.1:{port}"]
    source = {"DATA_SOURCE_NAME": f"{server.conninfo} sslmode=disable"}
    return {
        **{f"camp, {tier}": ([f"{build}/src/camp-exporter", "--from", f"postgres:{server.conninfo}", "--tier", tier,
                              "--port", "{port}"], {}) for tier in TIERS},
        "postgres-exporter": (peer, source),
        "the same without settings": (peer and [*peer, "--disable-settings-metrics"], source),
    }


def cost_ns(exporter, backends, seconds, scrapes):
    """Returns the CPU time of the exporter and of its backends in these seconds, with evenly spaced scrapes."""
    before = cpu_ns(exporter.process.pid), sum(map(cpu_ns, backends))
    begin = time.monotonic()
    for number in range(scrapes):
        time.sleep(max(0, begin + (number + 0.5) * seconds / scrapes - time.monotonic()))
        exporter.scrape()
    time.sleep(max(0, begin + seconds - time.monotonic()))
    return cpu_ns(exporter.process.pid) - before[0], sum(map(cpu_ns, backends)) - before[1]


def page(exporter):
    """Returns the bytes of a page as they are sent, and what they are uncompressed."""
    request = urllib.request.Request(f"http://127.0.0.1:{exporter.port}/metrics", headers=ACCEPT)
    with urllib.request.urlopen(request, timeout=30) as answer:
        sent = answer.read()
        whole = gzip.decompress(sent) if answer.headers.get("Content-Encoding") == "gzip" else sent
    return len(sent), whole


def measure_exporter(who, command, environment, server, period_s, scrapes):
    before = clients(server)
    with Exporter(command, {**os.environ, **environment}) as exporter:
        time.sleep(SETTLING_S)
        backends = clients(server) - before
        once = cost_ns(exporter, backends, period_s, 1)
        often = cost_ns(exporter, backends, period_s, scrapes)
        if clients(server) - before != backends:
            raise Failed(f"{who} has other sessions than before")
        resident, most = exporter.memory()
        sent, whole = page(exporter)
    scrape = [(many - one) / (scrapes - 1) for many, one in zip(often, once)]
    return {"who": who, "own_ms": once[0] / 1e6, "backend_ms": once[1] / 1e6, "own_scrape_ms": scrape[0] / 1e6,
            "backend_scrape_ms": scrape[1] / 1e6, "resident_bytes": resident, "most_bytes": most, "sent_bytes": sent,
            "page_bytes": len(whole), "series": sum(not line.startswith(b"#") for line in whole.splitlines())}


def measure(build, quick):
    """Returns the lines of this part, and the failures."""
    if os.geteuid() != 0 or not os.path.exists(f"{build}/bench/tiers"):
        return [{"part": "peer", "who": "camp export of PostgreSQL's sessions (root, libpq)", "present": False}], []
    period_s, scrapes = (4, 4) if quick else (PERIOD_S, SCRAPES)
    rows, missing = [], []
    try:
        with Server() as server, server.load(SESSIONS, "-S", "-R", "20"):
            for who, (command, environment) in commands(build, server).items():
                if command is None:
                    missing.append(who)
                else:
                    rows.append(measure_exporter(who, command, environment, server, period_s, scrapes))
    except (Failed, OSError, subprocess.SubprocessError) as error:
        return [], [f"export_sessions: {error}"]
    return [{"part": "export_sessions", "sessions": SESSIONS, "period_s": period_s, "rows": rows, "missing": missing}], []
