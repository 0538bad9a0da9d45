"""The cost of camp view while a page is open, and the size of a report.

The source is a table of synthetic shares, in memory before the measurement starts, replayed at 10 Hz. In
the worst case every row changes in each interval; usually most threads sleep. CPU time is of the
whole process, with its reading of the table and the encoding, from the scheduler's count. The same
without a client shows the server's part, and the same with a second client that does not read.
"""

import glob
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/commands"))

import attack  # noqa: E402

STATES = ("user", "system", "disk", "lock", "run_queue", "idle")
HERTZ = 10
ENTITIES = 1000
SETTLE_S = 4  # the second client's buffers are full by then
WINDOW_S = 10
LIMIT_PERCENT = 0.5  # of a core
REPORT = (2000, 300)
LIMIT_REPORT_BYTES = 8 * 1000 * 1000
CHANGING = (0.1, 0.5, 1.0)  # of the rows, in each interval; the last one has no limit


def row_of(dice, changing):
    """Returns the us of each state in 100 ms: all asleep, or a part in each state."""
    values = [0] * len(STATES)
    left = 1000000 // HERTZ
    if dice.random() < changing:
        for i in range(len(STATES) - 1):
            if dice.random() < 0.5:
                values[i] = dice.randrange(left // 2 + 1)
                left -= values[i]
    values[-1] = left
    return values


def write_table(file, entities, frames, changing):
    dice = random.Random(1)
    file.write("time,entity," + ",".join(f"{state}_us" for state in STATES) + "\n")
    for frame in range(frames):
        when = f"{1700000000 + frame / HERTZ:.1f}"
        for entity in range(entities):
            file.write(f"{when},e{entity},{','.join(map(str, row_of(dice, changing)))}\n")
    file.flush()


def cpu_ns(pid):
    """Returns the CPU time of all threads of a process, by the scheduler's count."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as stat:
            total += int(stat.read().split()[0])
    return total


def percent_with(camp, table, clients, stuck, window_s):
    """Returns (percent of a core, frames a second of the first client)."""
    server = attack.Server(camp, ["--from", table, "--speed", "1"])
    readers = [attack.started(server) for _ in range(clients)]
    held = []
    for _ in range(stuck):
        held.append(server.connect(small=True))
        held[-1].sendall(server.request())
    time.sleep(SETTLE_S)
    before, begin = cpu_ns(server.process.pid), time.monotonic()
    frames = len(readers[0].ends) if readers else 0
    time.sleep(window_s)
    took_s = time.monotonic() - begin
    percent = (cpu_ns(server.process.pid) - before) / took_s / 1e7
    hertz = (len(readers[0].ends) - frames) / took_s if readers else 0
    server.stop()
    return percent, hertz


def measure_server(camp, window_s):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
        write_table(table, ENTITIES, (SETTLE_S + window_s + 3) * HERTZ, 1.0)
        alone, _ = percent_with(camp, table.name, 0, 0, window_s)
        percent, hertz = percent_with(camp, table.name, 1, 0, window_s)
        stuck, stuck_hertz = percent_with(camp, table.name, 1, 1, window_s)
    return {"part": "view", "entities": ENTITIES, "hertz": hertz, "percent": percent,
            "alone_percent": alone, "stuck_percent": stuck, "stuck_hertz": stuck_hertz,
            "limit_percent": LIMIT_PERCENT}


def measure_report(camp, changing):
    entities, frames = REPORT
    with tempfile.TemporaryDirectory() as directory:
        page = f"{directory}/report.html"
        with open(f"{directory}/table.csv", "w", encoding="ascii") as table:
            write_table(table, entities, frames, changing)
        before = os.times()
        subprocess.run([camp, "report", "--from", table.name, "--output", page], check=True,
                       stdout=subprocess.DEVNULL)
        after = os.times()
        size = os.path.getsize(page)
    record = {"part": "report", "entities": entities, "frames": frames, "changing": changing,
              "bytes": size, "cpu_s": after.children_user - before.children_user}
    if changing < 1:
        record["limit_bytes"] = LIMIT_REPORT_BYTES
    return record


def measure(build, quick):
    camp = f"{build}/src/camp"
    if subprocess.run([camp, "view", "--help"], stdout=subprocess.DEVNULL, check=False).returncode:
        return [], ["view: camp view does not run"]
    lines = [measure_server(camp, 5 if quick else WINDOW_S)]
    lines += [measure_report(camp, changing) for changing in CHANGING]
    return lines, []
