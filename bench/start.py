"""The static camp (`make static`): its size, and its start beside those of the dynamic camp and of true(1).

The programs run in turn; a start is the CPU time of the whole command (wait4), and the median of the rounds counts.
"""

import os
import platform
import statistics

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
STATIC = f"{TREE}/build/static/{ARCHITECTURE}/camp"
COUNTER = ["get", "memory.total_bytes", "--value"]
LIMIT_BYTES = 6 * 1000 * 1000
LIMIT_MS = 1.5
ROUNDS = 200


def cpu_ms(command):
    """CPU time of a command, or None if there is no such program."""
    silent = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_WRONLY, 0) for descriptor in (1, 2)]
    try:
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=silent)
    except FileNotFoundError:
        return None
    _, status, usage = os.wait4(pid, 0)
    return (usage.ru_utime + usage.ru_stime) * 1000 if status == 0 else None


def measure(build, quick):
    if not os.path.exists(STATIC):
        return [], ["start: no static camp: make static"]
    commands = {"static": [STATIC, *COUNTER], "dynamic": [f"{build}/src/camp", *COUNTER], "true": ["true"]}
    times = {who: [] for who in commands}
    for _ in range(ROUNDS // 4 if quick else ROUNDS):
        for who, command in commands.items():
            times[who].append(cpu_ms(command))
    medians = {who: statistics.median(values) if None not in values else None for who, values in times.items()}
    if medians["static"] is None:
        return [], ["start: the static camp failed"]
    return [{"part": "size", "name": f"static camp for {ARCHITECTURE}, stripped", "bytes": os.path.getsize(STATIC),
             "limit_bytes": LIMIT_BYTES},
            {"part": "start", "ms": medians["static"], "limit_ms": LIMIT_MS,
             "against": [{"who": who, "ms": value} for who, value in medians.items() if who != "static"]}], []
