"""camp.paper: the names of Figure 3 of the CAMP paper, and the programs of Figures 1 and 4 as printed."""

import errno
import inspect
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import camp
from camp import paper
import printed
from subjects import Sleeper, no_descriptors

TREE = pathlib.Path(__file__).resolve().parents[2]

# Runs the program of Figure 1. Its sleep() also sends a known number of packets over lo. The script runs in a
# network namespace without other traffic, and prints the measured and the expected rate.
TRAFFIC = '''
import socket, sys, time, types
sys.path.insert(0, %r)
import printed
names = printed.load('figure1.py')
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(('127.0.0.1', 0))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def sleep(seconds):
    time.sleep(seconds)
    for _ in range(1000):
        sender.sendto(bytes(32), receiver.getsockname())
names['time'] = types.SimpleNamespace(sleep=sleep)
rate = names['BulkByteTransferRate']('lo')
# IP and UDP headers are 28 bytes, and each packet is sent and received.
print(rate, 2 * 1000 * (32 + 28) / names['SAMPLE_INTERVAL'])
'''

# Runs the program of Figure 4. On SIGUSR1, prints CLOCK_MONOTONIC and its CPU clock.
WASTE = '''
import os, signal, sys, time
sys.path.insert(0, %r)
import printed
def tell(*_):
    os.write(1, b'%%d %%d\\n' %% (time.monotonic_ns(), time.process_time_ns()))
signal.signal(signal.SIGUSR1, tell)
tell()
printed.load('figure4.py')['waste'](%d)
'''


def disk_of(**values):
    return camp.Disk(**{**dict.fromkeys(camp.Disk._fields, 0), **values})


DISKS = {'sda': disk_of(name='sda', kind='disk', reads=10, writes=20),
         'sda1': disk_of(name='sda1', kind='partition', reads=3, writes=4)}


class Waste:
    """A process that runs the program of Figure 4."""

    def __init__(self, amount):
        self.process = subprocess.Popen(
            [sys.executable, '-c', WASTE % (str(printed.FOLDER), amount)],
            stdout=subprocess.PIPE, text=True)
        self.read()

    def read(self):
        at_ns, used_ns = self.process.stdout.readline().split()
        return int(at_ns), int(used_ns)

    def ask(self):
        """Returns CLOCK_MONOTONIC and the CPU clock of the process, both in ns and read by the process."""
        self.process.send_signal(signal.SIGUSR1)
        return self.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Names(unittest.TestCase):
    def test_every_name_in_figure_3_of_the_paper_exists_with_its_parameters(self):
        text = (TREE / 'docs' / 'paper-names.md').read_text(encoding='utf-8')
        printed_names = dict(re.findall(r'^\| `(\w+)\((\w*)\)`', text, re.MULTILINE))
        self.assertEqual(len(printed_names), 23)
        for name, parameter in printed_names.items():
            parameters = inspect.signature(getattr(paper, name)).parameters
            self.assertEqual(list(parameters)[:1], [parameter] if parameter else [], name)
        self.assertEqual(set(paper.__all__), {*printed_names, 'GetNetBytesRecv'})

    def test_cpu_time_functions_have_a_default_interval_of_100_ms(self):
        with_interval = [name for name in paper.__all__
                         if 'interval' in inspect.signature(getattr(paper, name)).parameters]
        self.assertEqual(with_interval, ['GetCPUtime_Kernel', 'GetCPUtime_Total', 'GetCPUtime_User',
                                         'GetPercentProcessorTime'])
        for name in with_interval:
            parameters = inspect.signature(getattr(paper, name)).parameters
            self.assertEqual(parameters['interval'].default, 100)
            self.assertEqual(list(parameters).index('interval'), 1)

    def test_names_that_enumeration_functions_return_are_valid_arguments(self):
        for name in paper.EnumNetworkInterfaces():
            for function in (paper.GetNetBytesSent, paper.GetNetPacketsSent, paper.GetNetBytesRecv,
                             paper.GetNetBytesRecvd, paper.GetNetPacketsRecvd):
                self.assertGreaterEqual(function(name), 0)
        for name in paper.EnumPhysicalDisks():
            self.assertGreaterEqual(paper.GetNumReads_Disk(name), 0)
            self.assertGreaterEqual(paper.GetNumWrites_Disk(name), 0)
        for name in paper.EnumDiskPartitions():
            self.assertGreaterEqual(paper.GetNumReads_Partition(name), 0)
            self.assertGreaterEqual(paper.GetNumWrites_Partition(name), 0)
        self.assertEqual(paper.GetCPUCount(), len(camp.cpu_ids()))
        for cpu in camp.cpu_ids():
            self.assertLessEqual(paper.GetPercentProcessorTime(cpu, 1), 100)


    def test_each_function_of_the_paper_returns_the_counter_of_its_name(self):
        # On lo, sent and received bytes are equal. Only other interfaces show whether they are mixed up.
        fields = {'GetNetBytesSent': 'sent_bytes', 'GetNetPacketsSent': 'sent_packets',
                  'GetNetBytesRecvd': 'received_bytes', 'GetNetPacketsRecvd': 'received_packets'}
        for name in paper.EnumNetworkInterfaces():
            for function, field in fields.items():
                before = getattr(camp.network(name), field)
                value = getattr(paper, function)(name)
                self.assertLessEqual(before, value, (name, function))
                self.assertLessEqual(value, getattr(camp.network(name), field), (name, function))
        for name in {disk.name for disk in camp.disks()} | {*paper.EnumPhysicalDisks()}:
            before = camp.disk(name)
            reads, writes = paper.GetNumReads_Disk(name), paper.GetNumWrites_Disk(name)
            after = camp.disk(name)
            self.assertTrue(before.reads <= reads <= after.reads, name)
            self.assertTrue(before.writes <= writes <= after.writes, name)
        with Sleeper() as child:
            task = camp.process(child.pid).read()
            self.assertEqual(
                (paper.GetNumPageFaults(child.pid), paper.GetVMSizeKb(child.pid),
                 paper.GetWorkingSetKb(child.pid), paper.GetThreadCount(child.pid)),
                (task.minor_faults + task.major_faults, task.virtual_bytes // 1024,
                 task.resident_bytes // 1024, task.threads))


class Disks(unittest.TestCase):
    def test_physical_disks_are_the_disks_that_have_a_device(self):
        disks = paper.EnumPhysicalDisks()
        self.assertEqual(disks, tuple(disk.name for disk in camp.disks(physical=True)))
        self.assertLessEqual({*disks}, {disk.name for disk in camp.disks()})
        for disk in camp.disks():
            self.assertEqual(os.path.exists(f'/sys/block/{disk.name}/device'), disk.name in disks, disk.name)
            if disk.name.startswith(('loop', 'ram', 'zram', 'dm-', 'md')):
                self.assertNotIn(disk.name, disks)

    def test_the_functions_about_partitions_refuse_disks_and_those_about_disks_partitions(self):
        def read(source, name):
            return DISKS[name]
        functions = {'disk': (paper.GetNumReads_Disk, paper.GetNumWrites_Disk),
                     'partition': (paper.GetNumReads_Partition, paper.GetNumWrites_Partition)}
        for name in (disk.name for disk in camp.disks()):
            for function in functions['partition']:
                self.assertRaisesRegex(camp.Invalid, f'{name} is a disk', function, name)
        with mock.patch.object(paper._camp, 'disk', read):  # this machine may have no partition
            for name, disk in DISKS.items():
                for kind, (reads, writes) in functions.items():
                    if kind == disk.kind:
                        self.assertEqual((reads(name), writes(name)), (disk.reads, disk.writes))
                    else:
                        self.assertRaisesRegex(camp.Invalid, f'{name} is a {disk.kind}', reads, name)
                        self.assertRaisesRegex(camp.Invalid, f'{name} is a {disk.kind}', writes, name)
        for function in (*functions['disk'], *functions['partition']):
            self.assertRaises(camp.Gone, function, 'no-such-disk')


class Processes(unittest.TestCase):
    def test_an_identifier_does_not_name_a_later_process_with_the_same_pid(self):
        with Sleeper() as child:
            identifier = paper.GetProcessIdentifier(child.pid)
            self.assertEqual(identifier, child.pid)
            for function in (paper.GetNumPageFaults, paper.GetWorkingSetKb, paper.GetVMSizeKb,
                             paper.GetThreadCount):
                self.assertGreater(function(identifier), 0)
                self.assertEqual(function(identifier), function(child.pid))
            other = paper.ProcessIdentifier(child.pid, identifier.start - 1)
            self.assertRaises(camp.Gone, paper.GetWorkingSetKb, other)
        self.assertRaises(camp.Gone, paper.GetThreadCount, identifier)

    def test_a_missing_process_has_no_identifier(self):
        child = subprocess.Popen(['true'])
        child.wait()
        for pid in (child.pid, 0, -1, 10**12):
            self.assertIsNone(paper.GetProcessIdentifier(pid))
        self.assertEqual(paper.GetProcessIdentifiers('no-such-program'), [])

    def test_a_lack_of_descriptors_is_no_missing_process(self):
        with no_descriptors():
            for ask in (lambda: paper.GetProcessIdentifier(os.getpid()),
                        lambda: paper.GetProcessIdentifiers('python3'), lambda: paper.GetThreadCount(os.getpid())):
                with self.assertRaises(OSError) as caught:
                    ask()
                self.assertEqual(caught.exception.errno, errno.EMFILE)

    def test_processes_are_found_by_the_name_by_which_they_were_invoked(self):
        with tempfile.TemporaryDirectory() as folder:
            link = os.path.join(folder, 'camp-test-name')
            os.symlink('/bin/sleep', link)
            for argument in (link, 'camp-test-name', '-camp-test-name'):
                with Sleeper(argument) as child:
                    identifier = paper.GetProcessIdentifier(child.pid)
                    self.assertEqual(paper.GetProcessIdentifiers('camp-test-name'), [identifier], argument)
                    self.assertIn(identifier, paper.GetProcessIdentifiers('sleep'))
                    self.assertEqual(paper.GetProcessIdentifiers('camp-test'), [])
        own = paper.GetProcessIdentifier(os.getpid())
        with open('/proc/self/cmdline', encoding='utf-8') as file:
            invoked = os.path.basename(file.read().split('\0')[0])
        self.assertIn(own, paper.GetProcessIdentifiers(invoked))
        found = paper.GetProcessIdentifiers('sleep')
        self.assertEqual(found, sorted(set(found)))

    def test_processes_are_found_by_the_name_of_their_executable(self):
        with Sleeper() as one, Sleeper() as other:
            found = paper.GetProcessIdentifiers(os.path.basename(os.readlink(f'/proc/{one.pid}/exe')))
            for child in (one, other):
                self.assertIn(paper.GetProcessIdentifier(child.pid), found)

    def test_cpu_percentage_functions_do_not_wait_and_measure_nothing_if_the_interval_is_0(self):
        # With the default interval, each call would take at least 100 ms.
        start = time.monotonic()
        for _ in range(50):
            for percent in (paper.GetPercentProcessorTime(None, 0), paper.GetPercentProcessorTime(0, 0),
                            paper.GetCPUtime_Total(os.getpid(), 0),
                            paper.GetCPUtime_User(os.getpid(), 0), paper.GetCPUtime_Kernel(os.getpid(), 0)):
                self.assertTrue(math.isnan(percent), percent)
        self.assertLess(time.monotonic() - start, 50 * 3 * 0.1)

    def test_a_negative_interval_is_refused(self):
        for ask in (lambda: paper.GetPercentProcessorTime(0, -5),
                    lambda: paper.GetPercentProcessorTime(-1, 0),
                    lambda: paper.GetCPUtime_Total(os.getpid(), -1),
                    lambda: paper.GetCPUtime_User(os.getpid(), float('nan'))):
            self.assertRaises(ValueError, ask)


class AsPrinted(unittest.TestCase):
    def test_the_example_programs_are_as_long_as_printed_in_the_paper(self):
        figures = {name: (printed.FOLDER / name).read_text(encoding='ascii')
                   for name in printed.PRELUDE}
        self.assertEqual([len(text.splitlines()) for text in figures.values()], [11, 8])

    def test_the_program_of_figure_1_reports_the_rate_of_known_traffic(self):
        words = ['unshare', '-n'] if os.geteuid() == 0 else ['unshare', '-rn']
        script = 'ip link set lo up && exec "$0" -c "$1"'
        child = subprocess.run(
            [*words, 'sh', '-c', script, sys.executable, TRAFFIC % str(printed.FOLDER)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        if child.returncode != 0 and 'unshare' in child.stderr:
            self.skipTest('no network namespace may be made here')
        self.assertEqual(child.returncode, 0, child.stderr)
        rate, expected = map(float, child.stdout.split())
        self.assertEqual(rate, expected)

    def test_the_cpu_time_of_the_figure_4_process_agrees_with_its_cpu_clock(self):
        tick = 1 / (camp.kernel().tick_hz or 100)
        for amount in (30, 50):
            with Waste(amount) as waste:
                identifier = paper.GetProcessIdentifier(waste.process.pid)
                begin_ns, before_ns = waste.ask()
                percent = paper.GetCPUtime_Total(identifier, 1000)
                end_ns, after_ns = waste.ask()
            whole, used = (end_ns - begin_ns) / 1e9, (after_ns - before_ns) / 1e9
            # The interval of camp is 1 s within the interval between the two ask(). A CPU time that camp reads may
            # be up to a tick old.
            self.assertGreaterEqual(percent, 100 * (used - (whole - 1) - tick) / whole)
            self.assertLessEqual(percent, 100 * (used + tick))


if __name__ == '__main__':
    unittest.main()
