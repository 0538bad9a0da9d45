"""How large libcamp.so is, stripped, as a package would install it."""

import glob
import os
import subprocess
import tempfile

LIMIT_BYTES = 100 * 1000


def measure(build):
    libraries = [path for path in glob.glob(f"{build}/src/counters/libcamp.so.*")
                 if os.path.isfile(path) and not os.path.islink(path)]
    if len(libraries) != 1:
        return [], [f"size: no libcamp.so in {build}/src/counters"]
    with tempfile.NamedTemporaryFile() as stripped:
        done = subprocess.run(["strip", "--strip-unneeded", "-o", stripped.name, libraries[0]],
                              check=False)
        size = os.path.getsize(stripped.name)
    if done.returncode != 0:
        return [], ["size: strip failed"]
    return [{"part": "size", "name": "libcamp.so, stripped", "bytes": size,
             "limit_bytes": LIMIT_BYTES}], []
