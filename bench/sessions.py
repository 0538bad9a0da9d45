"""The cost of a sample of the sessions of a database server: bench/sessions.c with a separate
PostgreSQL server (tests/servers/lib.bash), with 100 and 500 idle connections, and
bench/sessions_mariadb.c with a MariaDB server with all instruments of waits.

The share is of one CPU, at ten samples a second: camp's own time and that of its backend.
"""

import json
import subprocess

from servers import BEGIN, TREE
from table import Failed

SESSIONS = (100, 500)  # the limit is for the first; with more there are fewer samples
LOOKS_A_SECOND = 10
LIMIT_PERCENT = 1.0  # of one CPU
POSTGRES = BEGIN + """
start_postgres max_connections=600
"$2/bench/sessions" "$PG" "host=$PG_FOLDER dbname=postgres user=camp_super" "$3" "$4" "$5"
"""
MARIADB = BEGIN + """
start_mariadb --max-connections=600 --performance-schema=ON --performance-schema-instrument=wait/%=ON \\
    --performance-schema-consumer-events-waits-current=ON
"$2/bench/sessions_mariadb" "$MARIADB_SOCKET" "$3" "$4" "$5"
"""


def look_record(build, sessions, looks, kind, server=POSTGRES):
    done = subprocess.run(["bash", "-c", server, "-", TREE, build, str(sessions), str(looks), kind],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, timeout=300)
    if done.returncode != 0:
        raise Failed(f"sessions {sessions}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    return {"part": "sessions", "what": kind, **result}


def sampling_record(brief, whole):
    """Combines the costs of samples: one of a second's samples is whole, the others are brief."""
    cost_ms = [look["own_ms"] + look["backend_ms"] for look in (brief, whole)]
    percent = ((LOOKS_A_SECOND - 1) * cost_ms[0] + cost_ms[1]) / 10
    record = {**brief, "what": "sampling", "percent": percent,
              "looks": LOOKS_A_SECOND * min(1, LIMIT_PERCENT / percent)}
    if brief["sessions"] == SESSIONS[0]:
        record["limit_percent"] = LIMIT_PERCENT
    return record


def mariadb_record(build, sessions, looks, kind):
    return {**look_record(build, sessions, looks, kind, MARIADB), "what": f"MariaDB {kind}"}


def measure(build, quick):
    """Returns the lines of this part, and the failures."""
    lines, failures = [], []
    for sessions in SESSIONS:
        try:
            pair = [look_record(build, sessions, 50 if quick else 500, kind)
                    for kind in ("brief", "whole")]
            lines += [*pair, sampling_record(*pair)]
            lines += [mariadb_record(build, sessions, 20 if quick else 100, kind)
                      for kind in ("processlist", "instruments")]
        except (Failed, subprocess.TimeoutExpired) as failed:
            failures.append(str(failed))
    return lines, failures
