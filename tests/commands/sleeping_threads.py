"""sleeping_threads.py CAMP FILE: records threads to FILE, while a random number of this process's threads wakes up now and
then. Then each interval of the recording has all of them, each adds up, and over all intervals each thread has the time
of the recording. Rows of threads that sleep on are not in the file: the reader repeats them."""
import json
import random
import subprocess
import sys
import threading
import time

THREADS, INTERVALS, INTERVAL_MS = 100, 150, 40  # more than two key intervals


def live(signal, ended):
    while not ended.is_set():
        signal.wait()
        signal.clear()


def wake_some(signals, recorder):
    while recorder.poll() is None:
        for signal in random.sample(signals, random.randint(0, THREADS)):
            signal.set()
        time.sleep(random.random() * 0.2)


def record(camp, file):
    signals, ended = [threading.Event() for _ in range(THREADS)], threading.Event()
    threads = [threading.Thread(target=live, args=(signal, ended)) for signal in signals]
    for thread in threads:
        thread.start()
    recorder = subprocess.Popen([camp, 'record', '--tier', 'bpf', '--interval', f'{INTERVAL_MS}ms',
                                 '--count', str(INTERVALS), '--output', file])
    wake_some(signals, recorder)
    ended.set()
    for signal, thread in zip(signals, threads):
        signal.set()
        thread.join()
    assert recorder.returncode == 0, recorder.returncode
    return {thread.native_id for thread in threads}


def main():
    camp, file = sys.argv[1:]
    tids = record(camp, file)
    lines = subprocess.run([camp, 'top', '--from', file, '--group', 'thread', '--format', 'json'],
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    total_ns, times_ns, written = 0, dict.fromkeys(tids, 0), set()
    assert len(lines) == INTERVALS, len(lines)
    for line in lines:
        frame = json.loads(line)
        rows = {row['id']: row for row in frame['entities'] if row['id'] in tids}
        total_ns += frame['interval_s'] * 1e9
        assert rows.keys() == tids, (frame['time'], tids - rows.keys())
        for tid, row in rows.items():
            assert row['unaccounted_ns'] == 0, row
            times_ns[tid] += row['elapsed_ns']
            written.add(row['states'].get('lock_ns', 0) < row['elapsed_ns'])
    assert written == {False, True}, written  # threads slept on, and woke up
    # A snapshot reads a thread at its own moment: this counts at both ends of the recording only.
    shares = sorted(time_ns / total_ns for time_ns in times_ns.values())
    print(f'each thread has {shares[0]:.6f} to {shares[-1]:.6f} of the time')
    assert 0.98 < shares[0] and shares[-1] < 1.02, shares


main()
