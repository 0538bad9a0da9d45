#!/usr/bin/env python3
"""kills.py CAMP COUNT: kills a recorder COUNT times with SIGKILL, within 150 ms after its first interval.

Each time the intervals that were committed before the signal must be in the recording, which camp and SQLite
must be able to read. Every second recording is rotated every 40 ms, so that files are also created and closed
when the signal comes. Prints the numbers of kills, of committed intervals and of files, and the seconds.
"""
import concurrent.futures
import json
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

CAMP, COUNT = sys.argv[1], int(sys.argv[2])


def count_intervals(file):
    """Intervals of one file, 0 if it has none yet."""
    try:
        database = sqlite3.connect(f'file:{file}?mode=ro', uri=True)
    except sqlite3.OperationalError:
        return 0
    try:
        return database.execute('SELECT count(*) FROM tick').fetchone()[0]
    except sqlite3.OperationalError as error:
        if 'no such table' in str(error) or 'unable to open' in str(error) or 'locked' in str(error):
            return 0
        raise
    finally:
        database.close()


def count_in(folder):
    return sum(map(count_intervals, sorted(pathlib.Path(folder).glob('*.camp'))))


def check_file(file):
    """Intervals of one file after the kill. The file must be whole, and its intervals adjacent."""
    count = count_intervals(file)
    if count == 0:
        return 0
    database = sqlite3.connect(file)
    (problem,), = database.execute('PRAGMA integrity_check')
    (gaps,), = database.execute(
        'SELECT count(*) FROM (SELECT start_ns - lag(end_ns) OVER (ORDER BY tick) AS gap FROM tick) WHERE gap <> 0')
    database.close()
    if problem != 'ok' or gaps:
        sys.exit(f'kills.py: {file}: {problem}, {gaps} gaps')
    return count


def check_by_camp(output, intervals):
    """camp must read the same intervals. A file without an interval may exist next to others."""
    shown = subprocess.run([CAMP, 'record', '--info', output, '--format', 'json'],
                           capture_output=True, text=True, check=False)
    if intervals == 0:
        return
    if not shown.stdout or json.loads(shown.stdout)['readable'] != intervals:
        sys.exit(f'kills.py: {intervals} intervals are there, but camp says: {shown.stdout}{shown.stderr}')
    for line in shown.stderr.splitlines():
        if 'no interval was recorded' not in line and 'not a recording' not in line:
            sys.exit(f'kills.py: {line}')


def kill_once(number):
    with tempfile.TemporaryDirectory(dir='.') as folder:
        output = str(pathlib.Path(folder, 'run.camp'))
        command = [CAMP, 'record', '--from', 'cpus', '--tier', 'proc', '--interval', '10ms', '--output', output]
        chooser = random.Random(number)
        with subprocess.Popen(command + (['--rotate', '40ms'] if number % 2 else []), stderr=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL) as recorder:
            until = time.monotonic() + 20
            while count_in(folder) == 0 and time.monotonic() < until:
                time.sleep(0.002)
            time.sleep(chooser.uniform(0, 0.15))
            committed = count_in(folder)
            recorder.kill()
        files = sorted(pathlib.Path(folder).glob('*.camp'))
        intervals = sum(map(check_file, files))
        if intervals < committed:
            sys.exit(f'kills.py: kill {number}: {committed} intervals were committed, {intervals} are there')
        check_by_camp(output, intervals)
        return committed, len(files)


def main():
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        results = list(workers.map(kill_once, range(COUNT)))
    committed, files = (sum(column) for column in zip(*results))
    print(f'{COUNT} kills, {committed} committed intervals in {files} files: 0 lost, '
          f'{time.monotonic() - start:.0f} s')


main()
