"""The paper's programs, run as they are printed: figure1.py and figure4.py hold them letter by
letter, without their line numbers. The names that they leave open come from a prelude, and from
nowhere else."""

import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent

PRELUDE = {
    # "import time" and the interval are not printed.
    'figure1.py': 'import time\nfrom camp.paper import *\nSAMPLE_INTERVAL = 0.5\n',
    # time.clock() was the CPU time of the process on Unix; Python 3.8 has no function of that name.
    'figure4.py': 'from time import process_time as clock, sleep\n_INTERVAL = 0.1\n',
}


def load(name):
    """The names that a printed program defines, over its prelude."""
    names = {}
    exec(PRELUDE[name], names)
    exec(compile((FOLDER / name).read_text(encoding='ascii'), name, 'exec'), names)
    return names
