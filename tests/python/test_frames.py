"""Frames and microstates: their values, their memory, and waiting for them."""

import errno
import multiprocessing
import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import camp
from subjects import NEEDS_MICROSTATES, NEEDS_PANDAS, REASON, table

try:
    import numpy
    import pandas
except ImportError:
    numpy = pandas = None


class Numbers(unittest.TestCase):
    @NEEDS_MICROSTATES
    def test_the_states_of_each_entity_add_up_to_its_elapsed_time(self):
        for of in ('threads', 'processes', 'users', 'commands', 'cpus'):
            with camp.frames(of, interval=0.05) as frames:
                frame = next(frames)
            self.assertEqual(frames.tier, 'bpf')
            self.assertEqual(set(frame.unaccounted_ns), {0}, of)
            self.assertEqual(len(frame.names), len(frame))
            self.assertTrue(all(column.provenance == 'measured' for column in frame.columns
                                if column.kind == 'state'))

    def test_containers_gives_each_process_the_names_of_its_container_pod_and_unit(self):
        try:
            frames = camp.frames('processes', interval=0.05, containers=True)
        except camp.NotSupported as missing:
            self.skipTest(str(missing))
        with frames:
            frame = next(frames)
        self.assertEqual(list(frame.labels), ['container', 'pod', 'unit', 'container_quota', 'pod_quota', 'unit_quota'])
        own = next(row for row in frame.entities if row.pid == os.getpid())
        self.assertTrue(all(own.labels[name] for name in ('container', 'pod', 'unit')), own.labels)

    @NEEDS_MICROSTATES
    def test_a_sleeping_thread_has_sleep_time_and_a_busy_thread_has_cpu_time(self):
        with camp.frames('threads', interval=0) as frames:
            next(frames)
            for _ in range(20):
                time.sleep(0.1)
                end = time.thread_time_ns() + 50_000_000
                while time.thread_time_ns() < end:
                    pass
                frame = next(frames)
                # The times around unseen switches are estimated. An unseen switch is counted at the next event of the
                # thread, which may be in the next interval.
                if frame.losses.unseen + next(frames).losses.unseen == 0:
                    break
            else:
                self.skipTest('each interval had switches that no program saw')
        row = list(frame.ids).index(threading.get_native_id())
        self.assertGreaterEqual(frame['timer_ns'][row], 100_000_000)
        on_cpu = [column.name for column in frame.columns
                  if column.name in ('user_ns', 'system_ns', 'trap_ns', 'irq_ns')]
        self.assertGreaterEqual(sum(frame[name][row] for name in on_cpu), 50_000_000,
                                {name: frame[name][row] for name in frame.states})
        entity = frame.entities[row]
        self.assertEqual((entity.pid, entity.parent, entity.uid),
                         (os.getpid(), os.getppid(), os.geteuid()))

    @NEEDS_MICROSTATES
    def test_microstates_of_every_thread_add_up_to_its_time(self):
        with camp.microstates() as states:
            child = subprocess.Popen(['true'])
            child.wait()
            threads = states.threads()
            ended = states.exits()
            cpus = states.cpus()
        with camp.frames('threads') as frames:
            self.assertEqual([column.name for column in threads.columns],
                             [column.name for column in frames.read().columns])
        self.assertIn(threading.get_native_id(), threads.ids)
        begin, end = threads.of_rows('begin_ns'), threads.of_rows('time_ns')
        for row, sums in enumerate(zip(*(threads[name] for name in threads.states))):
            self.assertEqual(sum(sums), end[row] - begin[row])
        self.assertIn(child.pid, ended.ids)
        self.assertTrue(ended.of_rows('flags')[list(ended.ids).index(child.pid)] & camp.ENDED)
        for cpu in cpus:
            self.assertEqual(cpu.busy_ns + cpu.idle_ns + cpu.irq_ns + cpu.softirq_ns,
                             cpu.time_ns - cpu.begin_ns)
        self.assertRaises(camp.Invalid, states.threads)

    @NEEDS_MICROSTATES
    def test_disk_waits_are_measured_only_on_request(self):
        with camp.microstates() as states:
            self.assertRaises(camp.Invalid, states.disk_waits)
        with camp.microstates(system_calls=False, disks=True) as states:
            self.assertIsInstance(states.disk_waits(), list)

    @NEEDS_MICROSTATES
    @staticmethod
    def cpus_of(states):
        """The CPUs of a session, of which there is none before the first context switch."""
        while not (cpus := states.cpus()):
            time.sleep(0.001)
        return cpus

    def test_without_system_calls_their_number_and_time_are_unknown(self):
        with camp.microstates(system_calls=False) as states:
            threads, cpus = states.threads(), self.cpus_of(states)
        for name in ('system_ns', 'trap_ns', 'sleep_ns', 'system_calls'):
            self.assertIsNone(threads[name])
            self.assertNotIn(name, threads)
        self.assertRaises(KeyError, threads.__getitem__, 'no_such_ns')
        self.assertEqual({cpu.system_ns for cpu in cpus}, {None})
        begin, end = threads.of_rows('begin_ns'), threads.of_rows('time_ns')
        for row, sums in enumerate(zip(*(threads[name] for name in threads.states))):
            self.assertEqual(sum(sums), end[row] - begin[row])
        with camp.microstates() as states:
            threads, cpus = states.threads(), self.cpus_of(states)
        self.assertIsNone(threads['sleep_ns'])
        self.assertIsNotNone(threads['system_calls'])
        self.assertTrue(all(cpu.system_ns is not None for cpu in cpus))

    def test_a_table_is_read_to_its_last_row(self):
        with tempfile.TemporaryDirectory() as folder:
            frames = list(camp.frames(table(folder)))
        self.assertEqual([frame.names for frame in frames], [['a', 'b'], ['a', 'b']])
        self.assertEqual(frames[1]['busy_ns'].tolist(), [100_000_000, 7_000_000])
        self.assertEqual(frames[1]['idle_ns'].tolist(), [900_000_000, 9_000_000])

    def test_the_source_named_check_has_sampled_time_only_on_tier_taskstats(self):
        with camp.frames('check', interval=0.05) as frames:
            frame = next(frames)
        self.assertIn(frames.tier, ('taskstats', 'schedstat'))
        self.assertEqual('sampled_ns' in frame, frames.tier == 'taskstats')
        self.assertEqual(frame.unaccounted_ns, [])
        self.assertEqual([entity.id for entity in frame.beside.entities[1:]], camp.cpu_ids())

    def test_an_unknown_source_or_option_is_refused(self):
        for of, options in (('thread', {}), ('threads', {'tier': 'x'}),
                            ('no.csv', {'query': 'select'})):
            self.assertRaises(camp.Invalid, camp.frames, of, **options)
        self.assertRaises(ValueError, camp.frames, 'check', -1)
        self.assertRaises(TypeError, camp.frames, 'check', no_such_option=1)


    def owners(self, of, **options):
        """Returns which of pid, parent, uid and cgroup the rows have: one set for the frame, one for frame.beside."""
        def known(frame):
            return {tuple(value is not None for value in
                          (row.pid, row.parent, row.uid, row.cgroup)) for row in frame.entities}
        with camp.frames(of, interval=0.05, **options) as frames:
            frame = next(frames)
        return known(frame), known(frame.beside) if frame.beside else None

    def test_the_uid_of_an_entity_without_a_known_user_is_none_instead_of_0(self):
        nobody = {(False,) * 4}
        self.assertEqual(self.owners('cpus', tier='proc'), (nobody, None))
        known, beside = self.owners('check')
        self.assertEqual((known | {(True, False, False, False)}, beside),
                         ({(True, False, False, False)} | known & nobody, nobody))
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.owners(table(folder)), (nobody, None))

    @NEEDS_MICROSTATES
    def test_threads_and_processes_have_a_pid_but_users_and_commands_have_none(self):
        self.assertEqual(self.owners('cpus')[0], {(False,) * 4})
        for of in ('threads', 'processes'):
            known, beside = self.owners(of)
            self.assertIn((True, True, True), {row[:3] for row in known})
            self.assertEqual(beside, {(False,) * 4})
        self.assertEqual(self.owners('users')[0], {(False, False, True, False)})
        self.assertEqual(self.owners('commands')[0], {(False,) * 4})
        with camp.frames('processes', interval=0) as frames:
            next(frames)
            for _ in range(3):
                subprocess.run(['true'], check=True)
            ended = [row for row in next(frames).entities if row.name == 'true (ended)']
        self.assertEqual([(row.pid, row.parent, row.uid) for row in ended if row.members > 1],
                         [(None,) * 3] * len(ended))

    def test_a_missing_file_raises_not_found_and_a_missing_server_unreachable(self):
        for of, kind, fits, number, options in (
                ('/no/such.camp', camp.NotFound, FileNotFoundError, None, {}),
                ('/no/such.csv', camp.NotFound, FileNotFoundError, errno.ENOENT, {}),
                ('sqlite:/no/such', camp.NotFound, FileNotFoundError, errno.ENOENT, {'query': 'x'}),
                ('postgres:host=127.0.0.1 port=1', camp.Unreachable, ConnectionError,
                 errno.ECONNREFUSED, {}),
                ('postgres:host=/nowhere', camp.Unreachable, ConnectionError, errno.ENOENT, {}),
                ('mariadb:host=127.0.0.1 port=1', camp.Unreachable, ConnectionError, None, {}),
                ('prometheus:http://127.0.0.1:1', camp.Unreachable, ConnectionError,
                 errno.ECONNREFUSED, {})):
            try:
                with self.assertRaises(fits) as caught:
                    camp.frames(of, **options)
            except camp.NotSupported:
                continue
            self.assertIs(type(caught.exception), kind)
            self.assertNotIsInstance(caught.exception, ProcessLookupError)
            self.assertEqual((caught.exception.code, caught.exception.errno), (-4, number), of)

    def test_an_error_names_the_argument_instead_of_the_command_line_option(self):
        for words, of, options in (
                ('^tier=foo: the tiers of check are', 'check', {'tier': 'foo'}),
                ('^tier= does not go with x.camp; it goes with threads, ', 'x.camp', {'tier': 'bpf'}),
                ('query="select', 'sqlite:x', {}), ('^query= does not go with cpus;', 'cpus', {'query': 'x'}),
                ('^detail= does not go with check;', 'check', {'detail': True})):
            with self.assertRaisesRegex(camp.Invalid, words) as caught:
                camp.frames(of, **options)
            self.assertNotIn('--', str(caught.exception))


class Memory(unittest.TestCase):
    """Columns, numpy and pandas use the memory of the frame."""

    def frame(self):
        with tempfile.TemporaryDirectory() as folder:
            return next(camp.frames(table(folder)))

    def test_a_column_of_a_frame_is_contiguous_and_read_only(self):
        frame = self.frame()
        column = frame['idle_ns']
        self.assertEqual((column.format, column.contiguous, column.readonly), ('Q', True, True))
        self.assertEqual(frame.values.shape, (2, 2))
        self.assertEqual(frame.values[1, 0], column[0])
        self.assertRaises(KeyError, lambda: frame['none'])

    @NEEDS_PANDAS
    def test_numpy_and_pandas_use_a_frame_without_copying(self):
        frame = self.frame()
        array = numpy.asarray(frame)
        self.assertEqual(array.tolist(), [[10_000_000, 20_000_000], [5_000_000, 5_000_000]])
        for other in (numpy.asarray(frame['busy_ns']), numpy.asarray(frame.values),
                      pandas.DataFrame(array, columns=['busy', 'idle']).to_numpy(),
                      pandas.DataFrame(array, columns=['busy', 'idle'])['busy'].to_numpy(),
                      frame.to_pandas(copy=False)['idle_ns'].to_numpy(),
                      frame.to_pandas(copy=False).iloc[:, 0].to_numpy()):
            self.assertTrue(numpy.shares_memory(array, other))
        self.assertFalse(numpy.shares_memory(array, numpy.array(array)))
        self.assertFalse(array.flags.writeable)

    @NEEDS_PANDAS
    def test_a_data_frame_may_be_changed_and_its_frame_stays_as_it_was(self):
        frame = self.frame()
        data = frame.to_pandas()
        data['busy_ns'] += 1
        data['idle_ns'] *= 0
        data['sum_ns'] = data['busy_ns'] + data['idle_ns']
        self.assertEqual(data['sum_ns'].tolist(), [10_000_001, 5_000_001])
        self.assertEqual(frame['busy_ns'].tolist(), [10_000_000, 5_000_000])
        array = numpy.array(frame)
        array += 1
        self.assertEqual(frame['idle_ns'].tolist(), [20_000_000, 5_000_000])
        with self.assertRaisesRegex(ValueError, 'read-only'):
            frame.to_pandas(copy=False)['busy_ns'] += 1

    @NEEDS_PANDAS
    def test_a_frame_stays_in_memory_while_it_is_referenced(self):
        array = numpy.asarray(self.frame())
        column = self.frame()['busy_ns']
        rubbish = [bytes(64) for _ in range(10000)]
        self.assertEqual(array[0, 0], 10_000_000, rubbish[:1])
        self.assertEqual(column[1], 5_000_000)

    @NEEDS_PANDAS
    def test_a_frame_without_rows_becomes_an_empty_array(self):
        with camp.frames('check', interval=0) as frames:
            frame = frames.read()
            frame.__init__((list(map(tuple, frame.columns)), [], 0, 0, 0, 0, b'', b'', [],
                            (0, 0, 0, 0), None))
        self.assertEqual(numpy.asarray(frame).shape, (0, len(frame.columns)))
        self.assertEqual((frame.names, frame.entities, list(frame.ids)), ([], [], []))
        self.assertEqual(len(frame.to_pandas()), 0)


class Waiting(unittest.TestCase):
    def later(self, seconds, signal_number):
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal_number))
        timer.start()
        self.addCleanup(timer.join)

    def test_ctrl_c_ends_the_wait_for_a_frame(self):
        # SIGINT is ignored in a program that a shell has started in the background.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        for of in ('check', 'cpus') + (() if REASON else ('threads', 'users')):
            with camp.frames(of, interval=30) as frames:
                self.later(0.05, signal.SIGINT)
                start = time.monotonic()
                self.assertRaises(KeyboardInterrupt, next, frames)
                self.assertLess(time.monotonic() - start, 30)
                self.assertIsInstance(frames.read(), camp.Frame)

    def test_a_signal_handler_does_not_shorten_the_interval(self):
        seen = []
        before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(time.monotonic_ns()))
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        opened_ns = time.monotonic_ns()
        with camp.frames('check', interval=0.3) as frames:
            self.later(0.05, signal.SIGUSR1)
            frame = next(frames)
        self.assertEqual(len(seen), 1)
        self.assertLess(seen[0], frame.end_ns)
        # The interval starts after opened_ns, because camp.frames() starts it.
        self.assertGreaterEqual(frame.end_ns - opened_ns, 300_000_000)

    def test_waiting_for_a_frame_releases_the_gil(self):
        here, there = [], []

        def wait():
            there.append(time.monotonic_ns())
            there.append(next(frames).end_ns)
        with camp.frames('check', interval=0.5) as frames:
            thread = threading.Thread(target=wait)
            thread.start()
            while thread.is_alive():
                here.append(time.monotonic_ns())
                time.sleep(0.001)
        self.assertTrue(any(there[0] < now < there[1] for now in here))

    def test_several_threads_may_read_their_own_sources_at_the_same_time(self):
        found = []

        def watch(of):
            with camp.frames(of, interval=0.05) as frames:
                found.extend((of, len(next(frames)) > 0) for _ in range(4))
        names = ('check', 'cpus') if REASON else ('check', 'cpus', 'users', 'threads', 'users')
        threads = [threading.Thread(target=watch, args=(of,)) for of in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 4 * len(names))
        self.assertTrue(all(some for of, some in found if of != 'check'))

    def test_two_threads_may_not_read_the_same_source_at_the_same_time(self):
        refused = []

        def read():  # either thread may be the one that is refused
            try:
                next(frames)
            except RuntimeError as error:
                refused.append(error)
        for _ in range(100):  # repeats until both threads read at the same time
            with camp.frames('check', interval=0.3) as frames:
                thread = threading.Thread(target=read)
                thread.start()
                while thread.is_alive() and not refused:
                    try:
                        frames.read()
                    except RuntimeError as error:
                        refused.append(error)
                thread.join()
            if refused:
                break
        self.assertTrue(refused)

    def test_a_child_forked_during_a_replay_can_read_another_replay(self):
        with tempfile.TemporaryDirectory() as folder:
            path = table(folder)
            waiting = threading.Thread(target=list, args=(camp.frames(path, speed=1),))
            waiting.start()
            time.sleep(0.1)
            child = multiprocessing.get_context('fork').Process(
                target=lambda: camp.frames(path).read())
            child.start()
            child.join(120)
            child.kill()
            child.join()
            waiting.join()
            self.assertEqual(child.exitcode, 0)

    def test_a_forked_child_cannot_close_the_source_of_its_parent(self):
        of = 'check' if REASON else 'threads'
        with camp.frames(of, interval=0.05) as frames:
            next(frames)
            context = multiprocessing.get_context('fork')
            child = context.Process(target=frames.close)
            child.start()
            child.join()
            self.assertEqual(child.exitcode, 0)
            self.assertGreater(len(next(frames)), 0)
            frame = next(frames)
        if not REASON:
            self.assertIn(threading.get_native_id(), frame.ids)
            self.assertEqual(set(frame.unaccounted_ns), {0})


if __name__ == '__main__':
    unittest.main()
