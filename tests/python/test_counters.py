"""Compares counters with psutil: its value must be between the values that camp reads before and after it."""

import errno
import math
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

import camp
from subjects import Sleeper, no_descriptors

try:
    import psutil
except ImportError:
    psutil = None

NEEDS_PSUTIL = unittest.skipIf(psutil is None, 'python3-psutil is not installed')
HZ = os.sysconf('SC_CLK_TCK')


def units(seconds):
    """Converts a time of psutil to the units of /proc, from which psutil has computed the time."""
    return round(seconds * HZ)


def units_of_ns(ns):
    return ns * HZ // 1_000_000_000


class BesidePsutil(unittest.TestCase):
    def between(self, before, value, after, what):
        self.assertLessEqual(before, value, what)
        self.assertLessEqual(value, after, what)

    @NEEDS_PSUTIL
    def test_psutil_cpu_times_are_between_two_readings_of_camp(self):
        before = camp.cpus()
        theirs = psutil.cpu_times(percpu=True)
        after = camp.cpus()
        self.assertEqual(len(before), len(theirs))
        for first, their, last in zip(before, theirs, after):
            for name in ('system', 'idle', 'irq', 'softirq', 'steal', 'guest', 'guest_nice'):
                self.between(units_of_ns(getattr(first, name + '_ns')), units(getattr(their, name)),
                             units_of_ns(getattr(last, name + '_ns')), name)
            # The user time of psutil includes guest time.
            self.between(units_of_ns(first.user_ns + first.guest_ns), units(their.user),
                         units_of_ns(last.user_ns + last.guest_ns), 'user')

    @NEEDS_PSUTIL
    def test_psutil_network_counters_are_between_two_readings_of_camp(self):
        names = {'received_bytes': 'bytes_recv', 'sent_bytes': 'bytes_sent',
                 'received_packets': 'packets_recv', 'sent_packets': 'packets_sent',
                 'received_errors': 'errin', 'sent_errors': 'errout'}
        before = {network.name: network for network in camp.networks()}
        theirs = psutil.net_io_counters(pernic=True, nowrap=False)
        after = {network.name: network for network in camp.networks()}
        both = set(before) & set(theirs) & set(after)
        self.assertIn('lo', both)
        for name in both:
            for ours, their in names.items():
                self.between(getattr(before[name], ours), getattr(theirs[name], their),
                             getattr(after[name], ours), f'{name} {ours}')

    @NEEDS_PSUTIL
    def test_psutil_disk_counters_are_between_two_readings_of_camp(self):
        def read():
            return {disk.name: disk for disk in camp.disks() + camp.partitions()}
        before, theirs, after = read(), psutil.disk_io_counters(True, False), read()
        both = set(before) & set(theirs or {}) & set(after)
        for name in both:
            for ours, their in (('reads', 'read_count'), ('writes', 'write_count'),
                                ('read_bytes', 'read_bytes'), ('written_bytes', 'write_bytes')):
                self.between(getattr(before[name], ours), getattr(theirs[name], their),
                             getattr(after[name], ours), f'{name} {ours}')

    @NEEDS_PSUTIL
    def test_psutil_process_counters_are_between_two_readings_of_camp(self):
        us, them = camp.process(os.getpid()), psutil.Process()
        before = us.read()
        times, switches, threads = them.cpu_times(), them.num_ctx_switches(), them.num_threads()
        io = them.io_counters()
        after = us.read()
        for ours, theirs in (('user_ns', times.user), ('system_ns', times.system)):
            self.between(units_of_ns(getattr(before, ours)), units(theirs),
                         units_of_ns(getattr(after, ours)), ours)
        self.between(before.voluntary_switches, switches.voluntary, after.voluntary_switches, 'vcx')
        self.between(before.involuntary_switches, switches.involuntary, after.involuntary_switches,
                     'icx')
        self.between(before.written_bytes, io.write_bytes, after.written_bytes, 'written')
        self.assertEqual((before.threads, before.parent, before.name),
                         (threads, them.ppid(), them.name()))

    @NEEDS_PSUTIL
    def test_the_size_of_a_sleeping_process_equals_its_size_in_psutil(self):
        with Sleeper() as child:
            self.assertEqual(camp.process(child.pid).read('virtual_bytes').virtual_bytes,
                             psutil.Process(child.pid).memory_info().vms)
        self.assertEqual(camp.memory().total_bytes, psutil.virtual_memory().total)

    @NEEDS_PSUTIL
    def test_switches_and_interrupts_lie_between_two_readings_of_psutil(self):
        before = psutil.cpu_stats()
        system = camp.system()
        after = psutil.cpu_stats()
        self.assertTrue(before.ctx_switches <= system.context_switches <= after.ctx_switches)
        self.assertTrue(before.interrupts <= system.interrupts <= after.interrupts)
        self.assertLess(abs(system.boot_time_ns / 1e9 - psutil.boot_time()), 2)

    @NEEDS_PSUTIL
    def test_the_texts_of_a_process_equal_those_of_psutil(self):
        me, them = camp.process(os.getpid()), psutil.Process()
        self.assertEqual(me.command_line(), them.cmdline())
        child = subprocess.Popen(['sh', '-c', 'read line', 'a b', '', '\x1b[31m'], stdin=subprocess.PIPE)
        while not camp.process(child.pid).command_line():  # it has not left exec yet
            time.sleep(0.01)
        self.assertEqual(camp.process(child.pid).command_line()[-3:], ['a b', '', '\x1b[31m'])
        child.communicate(b'\n')
        self.assertEqual(os.path.realpath(me.executable()), os.path.realpath(them.exe()))
        self.assertEqual(me.user_id(), them.uids().effective)
        self.assertLessEqual(me.proportional_bytes(), them.memory_info().rss + (1 << 20))
        self.assertRaises(camp.Gone, camp.process(os.getpid())._replace(start=1).command_line)

    def test_system_counters_that_a_source_lacks_are_none(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'stat').write_text('ctxt 5\n', encoding='ascii')
            pathlib.Path(folder, 'cpuinfo').write_text('processor\t: 0\ncpu MHz\t\t: 800.5\n',
                                                       encoding='ascii')
            source = camp.Source(proc=folder, sys=folder)
            system = camp.system(source)
            self.assertEqual(system, camp.System(*[None] * len(system))._replace(
                time_ns=system.time_ns, context_switches=5))
            self.assertEqual(camp.cpu_frequency_hz(0, source), 800500000)
            self.assertRaises(camp.Gone, camp.cpu_frequency_hz, 1, source)

    def test_all_processes_are_read_in_one_call(self):
        tasks = camp.read_processes('cpu_ns', 'name')
        own = camp.process(os.getpid())
        self.assertEqual(list(tasks), sorted(tasks))
        self.assertEqual(tasks[own].name, own.read('name').name)
        self.assertEqual(tasks[own].start, own.start)
        self.assertGreater(tasks[own].cpu_ns, 0)
        self.assertLessEqual(tasks[own].cpu_ns, own.cpu_ns())
        self.assertIsNone(tasks[own].read_bytes)
        self.assertIsInstance(camp.read_processes()[own].read_bytes, int)
        with self.assertRaisesRegex(camp.Invalid, 'is no field'):
            camp.read_processes('none')

    @NEEDS_PSUTIL
    def test_psutil_lists_every_process_that_camp_lists(self):
        before = {process.pid for process in camp.processes()}
        theirs = set(psutil.pids())
        after = {process.pid for process in camp.processes()}
        self.assertLessEqual(before & after, theirs)


class Table(unittest.TestCase):
    @NEEDS_PSUTIL
    def test_process_names_agree_with_psutil(self):
        table = camp.process_table()
        before = table.read()
        theirs = {process.pid: process.info['name'] for process in psutil.process_iter(['name'])}
        after = table.read()
        both = set(before.ids) & set(after.ids)
        self.assertLessEqual(both, set(theirs))
        first = {(pid, start): (name, cpu_ns) for pid, start, name, cpu_ns in self.rows(before)}
        for pid, start, name, cpu_ns in self.rows(after):
            then_name, then_ns = first.get((pid, start), (None, 0))
            self.assertGreaterEqual(cpu_ns, then_ns)
            if (name, cpu_ns) == (then_name, then_ns):  # the process has not run in between
                self.assertTrue(theirs[pid].startswith(name), (theirs[pid], name))

    @staticmethod
    def rows(block):
        return zip(block.ids, block.of_rows('start'), block.names, block['cpu_ns'])

    def test_a_process_after_exec_has_its_new_name(self):
        table = camp.process_table()
        child = subprocess.Popen(['sh', '-c', 'read line; exec sleep 60'], stdin=subprocess.PIPE)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        process = camp.process(child.pid)
        names = []
        for wanted in ('sh', 'sleep'):
            while (now := process.read('name', 'state')).name != wanted or now.state != 'S':
                time.sleep(0.001)
            rows = table.read()
            row = list(rows.ids).index(child.pid)
            names.append(rows.names[row])
            self.assertEqual(rows['cpu_ns'][row], process.cpu_ns())
            self.assertEqual((rows.of_rows('parents')[row], rows.of_rows('start')[row]),
                             (os.getpid(), process.start))
            child.stdin.close()
        self.assertEqual(names, ['sh', 'sleep'])

    def test_an_exited_process_is_not_in_the_process_table(self):
        table = camp.process_table()
        with Sleeper() as child:
            self.assertIn(child.pid, table.read().ids)
        self.assertNotIn(child.pid, table.read().ids)


class Laws(unittest.TestCase):
    def test_the_cpu_time_of_a_process_agrees_with_its_cpu_clock(self):
        first = time.process_time_ns()
        ours = camp.pid_cpu_ns(os.getpid())
        task = camp.process(os.getpid())
        by_identifier = task.cpu_ns()
        read = task.read('cpu_ns')
        last = time.process_time_ns()
        self.assertLessEqual(first, ours)
        self.assertLessEqual(ours, by_identifier)
        self.assertLessEqual(by_identifier, read.cpu_ns)
        self.assertLessEqual(read.cpu_ns, last)
        self.assertEqual((read.cpu_provenance, read.cpu_resolution_ns), ('measured', 1))

    def test_the_idle_times_of_all_listed_cpus_add_up_to_the_total(self):
        total, each = camp.cpu(), camp.cpus()
        self.assertIsNone(total.cpu)
        self.assertEqual([cpu.cpu for cpu in each], camp.cpu_ids())
        self.assertEqual(len(each), camp.cpu_count())
        self.assertLessEqual(total.idle_ns, sum(cpu.idle_ns for cpu in camp.cpus()) + len(each) *
                             10**9 // HZ)

    def test_only_the_requested_fields_of_a_process_are_read(self):
        task = camp.process(os.getpid()).read('cpu_ns')
        self.assertIsNone(task.voluntary_switches)
        self.assertIsNone(task.sampled_ns)
        self.assertIsNotNone(camp.process(os.getpid()).read('voluntary_switches').voluntary_switches)

    def test_a_counter_difference_is_right_after_a_wrap_or_a_reset(self):
        self.assertEqual(camp.difference(2**32 - 1, 4, 32), 5)
        self.assertEqual(camp.difference(7, 10), 3)
        self.assertIsNone(camp.difference(10**10, 9_990_000_000))
        self.assertIsNone(camp.difference(10**12, 0))
        self.assertRaises(camp.Invalid, camp.difference, 1, 2, 16)

    def test_the_rate_of_a_counter_is_right_after_a_wrap_and_unknown_after_a_reset(self):
        self.assertEqual(camp.rate(100, 200, 500_000_000), 200.0)
        self.assertEqual(camp.rate(2**32 - 1, 4, 10**9, 32), 5.0)
        self.assertEqual(camp.rate(2**64 - 1, 4, 10**9), 5.0)
        self.assertEqual(camp.rate(7, 7, 1), 0.0)
        self.assertIsNone(camp.rate(10**10, 9_990_000_000, 10**9))
        self.assertRaisesRegex(camp.Invalid, 'no time', camp.rate, 1, 2, 0)
        self.assertRaisesRegex(camp.Invalid, '32 or 64 bits', camp.rate, 1, 2, 1, 16)
        self.assertRaisesRegex(camp.Invalid, 'elapsed_ns', camp.rate, 1, 2, -1)
        self.assertRaises(TypeError, camp.rate, 1, 2, 0.5)

    def test_a_utilisation_says_how_its_busy_time_was_obtained_if_the_kernel_is_known(self):
        measured = camp.kernel().tickless_idle and not camp.kernel().short_idle_sampled
        busy = camp.cpu_utilisation(interval=0.05)
        self.assertIn(busy.busy_provenance, ('measured',) if measured else ('sampled', None))
        self.assertEqual(busy.busy_provenance, camp.provenance('cpu.idle_ns').obtained)
        before = camp.cpu()
        time.sleep(0.05)
        self.assertIsNone(camp.utilisation(before, camp.cpu(), camp.cpu_count()).busy_provenance)

    def test_an_interval_of_0_is_refused_and_the_error_names_what_compares_without_a_wait(self):
        for interval in (0, 0.0, 1e-12):
            self.assertRaisesRegex(camp.Invalid, r'utilisation\(before, cpu', camp.cpu_utilisation, 0, interval)
            self.assertRaisesRegex(camp.Invalid, r'utilisation_since\(before\)',
                                   camp.process(os.getpid()).utilisation, interval)
        before = camp.cpu()
        time.sleep(0.05)
        since = camp.utilisation(before, camp.cpu(), camp.cpu_count())
        self.assertGreaterEqual(since.elapsed_ns, 50_000_000)

    def test_two_samples_of_the_same_time_give_no_utilisation(self):
        cpu = camp.cpu()
        self.assertRaises(camp.Invalid, camp.utilisation, cpu, cpu)
        self.assertRaises(TypeError, camp.utilisation, cpu, (1, 2))


class Errors(unittest.TestCase):
    def test_a_missing_process_raises_process_lookup_error(self):
        child = subprocess.Popen(['true'])
        process = camp.process(child.pid)
        child.wait()
        for ask in (process.cpu_ns, process.read, process.threads, process.utilisation,
                    lambda: camp.process(child.pid), lambda: camp.pid_cpu_ns(child.pid)):
            with self.assertRaises(ProcessLookupError) as caught:
                ask()
            self.assertIsInstance(caught.exception, camp.Gone)
            self.assertEqual(caught.exception.code, -4)
            self.assertNotIn('\n', str(caught.exception))

    def test_without_a_free_descriptor_each_call_raises_an_os_error_with_emfile(self):
        me = camp.process(os.getpid())
        thread = me.threads()[0]
        asks = {'cpu': camp.cpu, 'cpus': camp.cpus, 'cpu_ids': camp.cpu_ids, 'memory': camp.memory,
                'networks': camp.networks, 'disks': camp.disks, 'process': lambda: camp.process(1),
                'processes': camp.processes, 'read': me.read, 'threads': me.threads,
                'cpu_ns': lambda: me.cpu_ns(camp.Source(proc='/proc')),  # which keeps nothing open
                'thread': thread.read, 'fork_count': camp.fork_count, 'table': camp.process_table().read,
                'taskstats': camp.taskstats, 'states': camp.microstates, 'events': camp.microstates_events,
                'frames': lambda: camp.frames('threads'), 'check': lambda: camp.frames('check')}
        for name, ask in asks.items():
            try:
                ask()
            except (camp.NotSupported, camp.Permission):
                continue
            with no_descriptors(), self.assertRaises(camp.Error) as caught:
                ask()
            self.assertIsInstance(caught.exception, OSError, name)
            self.assertNotIsInstance(caught.exception, MemoryError, name)
            self.assertEqual(caught.exception.errno, errno.EMFILE, name)

    def test_a_wrong_argument_raises_value_error_or_type_error(self):
        self.assertRaises(ValueError, camp.process(os.getpid()).read, 'no_such_field')
        self.assertRaises(TypeError, camp.network, 3)
        self.assertRaises(TypeError, camp.pid_cpu_ns, 'x')
        self.assertRaises(ValueError, camp.network, 'a\0b')
        self.assertRaises(TypeError, camp.memory, 'proc')

    def test_the_value_error_names_the_argument_out_of_range(self):
        now, me = camp.cpu(), camp.process(os.getpid())
        for name, ask in (
                ('pid', lambda: camp.process(2**40)), ('pid', lambda: camp.process(-1)),
                ('pid', lambda: camp.pid_cpu_ns(0)), ('pid', lambda: camp.Process(2**31, 1).read()),
                ('start', lambda: camp.Process(1, -1).cpu_ns()),
                ('tid', lambda: camp.Thread(1, 2**40, 3).read()), ('CPU', lambda: camp.cpu(-1)),
                ('interval', lambda: camp.cpu_utilisation(interval=-1)),
                ('interval', lambda: camp.cpu_utilisation(interval=math.nan)),
                ('interval', lambda: me.utilisation(math.inf)),
                ('cpus', lambda: camp.utilisation(now, now, 0)),
                ('user_ns', lambda: camp.utilisation(now, now._replace(user_ns=2**64))),
                ('bits', lambda: camp.difference(1, 2, 2**32 + 32)),
                ('before', lambda: camp.difference(-1, 2)), ('name', lambda: camp.network('a\0b')),
                ('no interface', lambda: camp.network('')), ('no disk', lambda: camp.disk('')),
                ('interval', lambda: camp.frames('check', math.inf)),
                ('wait_ns', lambda: camp.frames('check').read(2**64)),
                ('begin', lambda: camp.frames('x.csv', begin=2**63)),
                ('speed', lambda: camp.frames('x.csv', speed=-1))):
            with self.assertRaisesRegex(camp.Invalid, name) as caught:
                ask()
            self.assertIsInstance(caught.exception, ValueError)
            self.assertNotIn('place for', str(caught.exception))

    def test_the_type_error_names_the_argument_of_the_wrong_type(self):
        for name, ask in (
                ('pid', lambda: camp.process('x')), ('pid', lambda: camp.process(1.0)),
                ('CPU', lambda: camp.cpu('x')), ('start', lambda: camp.Process(1, None).read()),
                ('name', lambda: camp.network(None)), ('name', lambda: camp.processes(3)),
                ('of', lambda: camp.frames(None)), ('', lambda: camp.cpu_utilisation(interval='1')),
                ('camp.Cpu', lambda: camp.utilisation(tuple.__new__(camp.Cpu, ()), camp.cpu()))):
            self.assertRaisesRegex(TypeError, name, ask)

    def test_the_error_about_a_missing_disk_names_the_disk(self):
        self.assertRaisesRegex(camp.Gone, 'no disk ../../etc;', camp.disk, '../../etc')


if __name__ == '__main__':
    unittest.main()
