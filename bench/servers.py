"""Database servers for a benchmark, by tests/servers/lib.bash: in a temporary folder, removed at its end."""

import os
import subprocess

from table import Failed

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The start of a bash script, whose first argument is the folder TREE.
BEGIN = """
. "$1/tests/servers/lib.bash"
skip() { echo "$*" >&2; exit 77; }
trap servers_end EXIT
servers_begin
"""


class Servers:
    """The server that a script starts after BEGIN: the script prints one line about it, `said`, and ends with its input."""

    def __init__(self, script, *arguments, preexec_fn=None):
        self.shell = subprocess.Popen(
            ["bash", "-c", f"{BEGIN}{script}read -r _\n", "-", TREE, *map(str, arguments)],
            preexec_fn=preexec_fn, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.said = self.shell.stdout.readline().strip()
        if not self.said:
            raise Failed(f"no server: {self.shell.stderr.read().strip()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shell.communicate("\n", timeout=30)
