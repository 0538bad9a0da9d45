"""What microstates cost: a context switch and a system call with this or that attached to the kernel,
and a snapshot of all threads beside who scans /proc.

What is attached slows every process of the machine, so each takes its turn: it is attached,
pingpong.c runs, and it is ended; before and after it pingpong.c runs with nothing attached. The cost
is the block's time less the mean of these two neighbours. Of each, the half of the blocks whose
neighbours differ least counts (others may attach to the kernel meanwhile, and be gone again), and
their median is shown.
"""

import glob
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from table import BENCH, PYTHON, Crowd, Failed, run_rounds, scans

ROUNDS = 16
PEERS_EVERY = 3  # their blocks are long: they run in each third round
ROUND_TRIPS = 3000  # in each of seven runs
CALLS = 30000
SNAPSHOT_ROUNDS = {1000: 5, 10000: 3}
SNAPSHOTS = 20

CAMP = "camp, all states"
CAMP_NO_CALLS = "camp, --no-syscalls"
LIMIT_NS = {(CAMP_NO_CALLS, "switch_ns"): 380.0, (CAMP, "call_ns"): 260.0,
            (CAMP_NO_CALLS, "call_ns"): 5.0}  # none, as well as it can be measured
LIMIT_MS = {1000: 0.45, 10000: 4.0}
STEADY = 8  # looks in a row, 20 ms apart
LIMIT_RESIDENT_BYTES = 30 * 1000 * 1000


class Attached:
    """A program that attaches to the kernel, while it lasts."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def links(self):
        """How many of its descriptors hold something attached."""
        names = []
        for path in glob.glob(f"/proc/{self.process.pid}/fd/*"):
            try:
                names.append(os.readlink(path))
            except OSError:
                pass  # closed meanwhile
        return sum("bpf_link" in name or "perf_event" in name for name in names)

    def __enter__(self):
        """Waits until it has all its links: the same number for a while."""
        counts = [0] * STEADY
        deadline = time.monotonic() + 20
        while counts[-1] == 0 or len(set(counts[-STEADY:])) > 1:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise Failed("it does not attach here")
            time.sleep(0.02)
            counts.append(self.links())
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        time.sleep(0.03)  # what it left, the kernel takes away a moment later


def find(program):
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def own(build):
    """who -> the command that attaches it, of what camp is compared with and camp itself."""
    attach = f"{build}/bench/attach"
    return {
        "floor: empty sched_switch": [attach, "floor", "sched_switch"],
        "floor: empty sched_switch, sched_wakeup": [attach, "floor", "sched_switch", "sched_wakeup"],
        "floor: empty sys_enter, sys_exit": [attach, "floor", "sys_enter", "sys_exit"],
        CAMP_NO_CALLS: [attach, "states", "no-syscalls"],
        CAMP: [attach, "states"],
    }


def peers(directory):
    """who -> the command that attaches it, of peers; who -> why it is missing."""
    tools = {
        "libbpf-tools runqlat": ["runqlat"],
        "libbpf-tools offcputime": ["offcputime"],
        "libbpf-tools syscount": ["syscount"],
        "perf sched record": ["perf", "sched", "record", "-o", f"{directory}/perf.data"],
    }
    missing = {who: f"no {command[0]}" for who, command in tools.items() if not find(command[0])}
    return {who: [find(command[0])] + command[1:] for who, command in tools.items()
            if who not in missing}, missing


def block(build):
    done = subprocess.run([f"{build}/bench/pingpong", str(max(os.sched_getaffinity(0))),
                           str(ROUND_TRIPS), str(CALLS)],
                          stdout=subprocess.PIPE, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise Failed("pingpong failed")
    return json.loads(done.stdout)


def run_blocks(build, rounds, directory):
    """who -> its blocks, each with its neighbours of nothing; and who is missing."""
    mine = own(build)
    others, missing = peers(directory)
    blocks = {who: [] for who in [*mine, *others]}
    before = block(build)
    for number in range(rounds):
        commands = {**mine, **(others if number % PEERS_EVERY == 0 else {})}
        for who in commands if number % 2 == 0 else reversed(commands):
            if who in missing:
                continue
            try:
                with Attached(commands[who]):
                    during = block(build)
            except Failed as error:
                missing[who] = str(error)
                continue
            after = block(build)
            blocks[who].append((before, during, after))
            before = after
    return {who: rows for who, rows in blocks.items() if who not in missing}, missing


def cost_of(rows, what):
    """Median, least and most of what a block takes more than its neighbours."""
    rows = sorted(rows, key=lambda row: abs(row[0][what] - row[2][what]))
    costs = [during[what] - (before[what] + after[what]) / 2
             for before, during, after in rows[:(len(rows) + 1) // 2]]
    return [statistics.median(costs), min(costs), max(costs)]


def attach_record(build, rounds):
    with tempfile.TemporaryDirectory() as directory:
        blocks, missing = run_blocks(build, rounds, directory)
    kinds = ("switch_ns", "call_ns")
    nothing = {what: statistics.median(before[what] for rows in blocks.values()
                                       for before, _, _ in rows) for what in kinds}
    variants = [{"who": who, **{what: cost_of(rows, what) for what in kinds},
                 "limits": {what: LIMIT_NS[who, what] for what in kinds if (who, what) in LIMIT_NS}}
                for who, rows in blocks.items()]
    return {"part": "attach", "rounds": rounds, "nothing": nothing, "variants": variants,
            "missing": missing}


def snapshots(build, who):
    done = subprocess.run([f"{build}/bench/snapshot", who, str(SNAPSHOTS)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          timeout=60)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    result = json.loads(done.stdout)
    return {**result, "ms": statistics.median(result["ms"])}


def snapshot_record(build, count, rounds):
    participants = {
        "camp": lambda: snapshots(build, "camp"),
        "floor: an empty iterator": lambda: snapshots(build, "floor"),
        "libproc2": lambda: scans([f"{build}/bench/scan", "libproc2", "3"]),
        "psutil": lambda: scans([PYTHON, f"{BENCH}/psutil_table.py", "3"]),
    }
    with Crowd(build, count, False) as crowd:
        results, missing = run_rounds(participants, rounds)
    if crowd.count != count:
        raise Failed(f"only {crowd.count} of {count} processes could be made")
    if "camp" not in results:
        raise Failed(missing["camp"])
    mine, against = results.pop("camp"), []
    for name in results:
        ratios = sorted(a["ms"] / b["ms"] for a, b in zip(mine, results[name]))
        against.append({"who": name, "ms": statistics.median(row["ms"] for row in results[name]),
                        "ratio": statistics.median(ratios), "ratio_min": ratios[0],
                        "ratio_max": ratios[-1]})
    record = {"part": "snapshot", "crowd": count, "threads": mine[-1]["threads"],
              "ms": statistics.median(row["ms"] for row in mine),
              "resident_bytes": max(row["resident_bytes"] for row in mine),
              "limit_ms": LIMIT_MS[count], "against": against, "missing": missing}
    if count == max(LIMIT_MS):
        record["limit_resident_bytes"] = LIMIT_RESIDENT_BYTES
    return record


def measure(build, quick):
    """The records, and what failed."""
    if not os.path.exists(f"{build}/bench/attach"):
        return [{"part": "peer", "who": "microstates (clang, bpftool, libbpf)", "present": False}], []
    if os.geteuid() != 0:
        return [{"part": "peer", "who": "microstates (root)", "present": False}], []
    records = [attach_record(build, 3 if quick else ROUNDS)]
    failures = [f"states: {who}: {why}" for who, why in records[0]["missing"].items()
                if who in own(build)]
    for count in (1000,) if quick else LIMIT_MS:
        try:
            records.append(snapshot_record(build, count, 1 if quick else SNAPSHOT_ROUNDS[count]))
        except Failed as error:
            failures.append(f"states: snapshot: {error}")
    return records, failures
