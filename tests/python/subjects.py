"""Processes that the tests read."""

import subprocess
import time

import camp


class Sleeper:
    """A process that runs sleep(1) until it is killed."""

    def __enter__(self):
        self.process = subprocess.Popen(['sleep', '60'])
        while True:
            now = camp.process(self.process.pid).read('state', 'name')
            if (now.name, now.state) == ('sleep', 'S'):
                return self.process
            time.sleep(0.001)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
