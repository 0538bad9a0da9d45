"""The lists and accounts of 2, 64, 256 and 2,000 CPUs through their readers: a simulation with synthetic files and
accounts. Without the cost of the kernel and of caches of other CPUs, it shows how camp's own cost grows."""

import json
import os
import subprocess

ROUNDS = 20
# The cost of each of 2,000 CPUs, relative to that of each of 64: more would be growth by the square.
LIMIT_GROWTH = 2
FROM_CPUS, TO_CPUS = 64, 2000


def record(what, lines):
    """One record of a reader, for all numbers of CPUs."""
    us = {line["cpus"]: line["us"] for line in lines if line["what"] == what}
    return {"part": "many_cpus", "simulation": True, "what": what, "us": us,
            "growth": us[TO_CPUS] / TO_CPUS / (us[FROM_CPUS] / FROM_CPUS), "limit_growth": LIMIT_GROWTH}


def measure(build, quick):
    """Returns the records, and the failures."""
    lines, failures = [], []
    for name in ("many_cpus", "many_accounts"):
        program = f"{build}/bench/{name}"
        if not os.path.exists(program):
            failures.append(f"many_cpus: {name} is not built: camp is without microstates")
            continue
        done = subprocess.run([program, str(ROUNDS // 2 if quick else ROUNDS)], stdout=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode != 0:
            failures.append(f"many_cpus: {name} ended in {done.returncode}")
        else:
            lines += [json.loads(line) for line in done.stdout.splitlines()]
    return [record(what, lines) for what in dict.fromkeys(line["what"] for line in lines)], failures
