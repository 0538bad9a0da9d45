"""Runs the programs of Figures 1 and 4 of the CAMP paper. figure1.py and figure4.py are literal copies without
line numbers. A prelude defines the names that a program uses but does not define."""

import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent

PRELUDE = {
    # "import time" and the interval are not printed in Figure 1.
    'figure1.py': 'import time\nfrom camp.paper import *\nSAMPLE_INTERVAL = 0.5\n',
    # The program uses time.clock(), which returned CPU time on Unix and was removed in Python 3.8.
    'figure4.py': 'from time import process_time as clock, sleep\n_INTERVAL = 0.1\n',
}


def load(name):
    """Runs a prelude and its program. Returns the names that they define."""
    names = {}
    exec(PRELUDE[name], names)
    exec(compile((FOLDER / name).read_text(encoding='ascii'), name, 'exec'), names)
    return names
