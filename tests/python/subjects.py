"""Processes and frames that the tests read, and what this machine lacks for them."""

import contextlib
import importlib.util
import os
import resource
import subprocess
import time
import unittest

import camp


def microstates_or_reason():
    """Returns None, or why microstates are unavailable on this machine."""
    try:
        camp.microstates().close()
    except (camp.Permission, camp.NotSupported) as error:
        return str(error)
    return None


REASON = microstates_or_reason()
NEEDS_MICROSTATES = unittest.skipIf(REASON is not None, REASON or '')
NEEDS_PANDAS = unittest.skipIf(importlib.util.find_spec('pandas') is None, 'python3-pandas is not installed')

TABLE = 'time,entity,busy_ms,idle_ms\n1,a,10,20\n1,b,5,5\n2,a,100,900\n2,b,7,9\n'


def table(folder):
    path = os.path.join(folder, 'table.csv')
    with open(path, 'w', encoding='ascii') as file:
        file.write(TABLE)
    return path


class Sleeper:
    """A process that runs sleep(1) until it is killed. `invoked` is its argv[0]."""

    def __init__(self, invoked='sleep'):
        self.invoked = invoked

    def __enter__(self):
        self.process = subprocess.Popen([self.invoked, '60'], executable='/bin/sleep')
        while True:
            now = camp.process(self.process.pid).read('state', 'name')
            if (now.name, now.state) == ('sleep', 'S'):
                return self.process
            time.sleep(0.001)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def no_descriptors():
    """Lets each open(2) of this process fail with EMFILE."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@contextlib.contextmanager
def program(*words, **options):
    """Starts a program, and kills it at the end of the block, also after a failure."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()
