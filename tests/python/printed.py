"""The programs of Figures 1 and 4 of the CAMP paper, run as they are printed: figure1.py and figure4.py
are literal copies without line numbers. Names that the programs use but do not define come only
from a prelude."""

import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent

PRELUDE = {
    # Figure 1 does not print "import time" and the interval.
    'figure1.py': 'import time\nfrom camp.paper import *\nSAMPLE_INTERVAL = 0.5\n',
    # time.clock() was the CPU time of the process on Unix; Python 3.8 has no function of that name.
    'figure4.py': 'from time import process_time as clock, sleep\n_INTERVAL = 0.1\n',
}


def load(name):
    """Runs a printed program after its prelude; returns all names that they define."""
    names = {}
    exec(PRELUDE[name], names)
    exec(compile((FOLDER / name).read_text(encoding='ascii'), name, 'exec'), names)
    return names
