"""The functions of camp.paper, their results and their errors in other processes and over XML-RPC."""

import concurrent.futures
import copy
import inspect
import math
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import unittest
import xmlrpc.client
import xmlrpc.server

import camp
from camp import paper
from subjects import Sleeper, program

CAMPMON = pathlib.Path(camp.__file__).parent / 'campmon.py'
START_METHODS = ('fork', 'spawn')
NAME = f'camp-test-{os.getpid()}'  # of the processes that the tests read


def calls_of(pid):
    """Returns (name, arguments) of each function of the paper that has something to read here."""
    process = paper.GetProcessIdentifier(pid)
    values = {'interface': 'lo', 'process': process, 'pid': pid, 'name': NAME, 'cpu': None}
    if paper.EnumPhysicalDisks():
        values['disk'] = paper.EnumPhysicalDisks()[0]
    if paper.EnumDiskPartitions():
        values['partition'] = paper.EnumDiskPartitions()[0]
    calls = []
    for name in paper.__all__:
        parameters = inspect.signature(getattr(paper, name)).parameters
        if all(given in values or given == 'interval' for given in parameters):
            calls.append((name, [1 if given == 'interval' else values[given] for given in parameters]))
    return calls


def raise_error(kind, code, number):
    raise kind('a message', code, number)


class Remote(unittest.TestCase):
    def is_result(self, name, arguments, result):
        """Tests a result that another process returned: a number of this machine, or what is returned here, too."""
        if name.startswith(('Enum', 'GetProcessIdentifier')):
            own = getattr(paper, name)(*arguments)
            if isinstance(own, (list, tuple)):
                own, result = list(own), list(result)
            self.assertEqual(result, own, name)
        else:
            self.assertIsInstance(result, (int, float), name)
            self.assertGreaterEqual(result, 0, name)


class Identifiers(Remote):
    def test_a_copied_or_pickled_process_identifier_keeps_its_start(self):
        with Sleeper(NAME) as child:
            identifier = paper.GetProcessIdentifier(child.pid)
            copies = [copy.copy(identifier), copy.deepcopy(identifier), copy.deepcopy([identifier])[0]]
            copies += [pickle.loads(pickle.dumps(identifier, protocol))
                       for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
            for one in copies:
                self.assertIs(type(one), paper.ProcessIdentifier)
                self.assertEqual((one, one.start), (identifier, identifier.start))
                self.assertEqual(paper.GetThreadCount(one), 1)
            other = pickle.loads(pickle.dumps(paper.ProcessIdentifier(child.pid, identifier.start - 1)))
            self.assertRaises(camp.Gone, paper.GetThreadCount, other)

    def test_a_process_identifier_is_sent_by_xml_rpc_as_its_pid(self):
        identifier = paper.GetProcessIdentifier(os.getpid())
        sent, _ = xmlrpc.client.loads(xmlrpc.client.dumps((identifier, [identifier])))
        self.assertEqual(sent, (os.getpid(), [os.getpid()]))
        self.assertIs(type(sent[0]), int)

    def test_camp_paper_does_not_import_xmlrpc(self):
        script = 'import sys; from camp.paper import *; GetProcessIdentifier(1); print("xmlrpc.client" in sys.modules)'
        said = subprocess.run([sys.executable, '-c', script], stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(said.stdout, 'False\n')


class Pools(Remote):
    def test_every_function_of_the_paper_works_in_a_pool_of_processes(self):
        with Sleeper(NAME) as child:
            calls = calls_of(child.pid)
            self.assertGreaterEqual(len(calls), 19)
            for method in START_METHODS:
                context = multiprocessing.get_context(method)
                with context.Pool(2) as pool:
                    results = [pool.apply_async(getattr(paper, name), arguments) for name, arguments in calls]
                    for (name, arguments), result in zip(calls, results):
                        self.is_result(name, arguments, result.get(60))

    def test_every_function_of_the_paper_works_with_concurrent_futures(self):
        context = multiprocessing.get_context('spawn')
        for kind in (lambda: concurrent.futures.ThreadPoolExecutor(2),
                     lambda: concurrent.futures.ProcessPoolExecutor(2, mp_context=context)):
            with Sleeper(NAME) as child, kind() as executor:
                calls = calls_of(child.pid)
                results = [executor.submit(getattr(paper, name), *arguments) for name, arguments in calls]
                for (name, arguments), result in zip(calls, results):
                    self.is_result(name, arguments, result.result(60))

    def test_an_error_keeps_its_class_code_and_errno_when_a_pool_returns_it(self):
        with multiprocessing.get_context('fork').Pool(1) as pool:
            for kind in (camp.Invalid, camp.NotSupported, camp.Permission, camp.Gone, camp.NotFound,
                         camp.Unreachable, camp.OutOfMemory, camp.ReadError, camp.FormatError):
                with self.assertRaises(kind) as caught:
                    pool.apply_async(raise_error, (kind, -77, 24)).get(60)
                error = caught.exception
                self.assertEqual((str(error), error.code, error.system_error), ('a message', -77, 24))
            with Sleeper(NAME) as child:
                identifier = paper.GetProcessIdentifier(child.pid)
            with self.assertRaises(camp.Gone) as caught:
                pool.apply_async(paper.GetThreadCount, (identifier,)).get(60)
            self.assertEqual((caught.exception.code, caught.exception.errno), (-4, 2))


class XmlRpc(Remote):
    def serves(self, url):
        """Tests each function of the paper at a server."""
        with Sleeper(NAME) as child, xmlrpc.client.ServerProxy(url, allow_none=True) as host:
            for name, arguments in calls_of(child.pid):
                self.is_result(name, arguments, getattr(host, name)(*arguments))
            identifier = host.GetProcessIdentifier(child.pid)
            self.assertEqual(identifier, child.pid)
            self.assertIn(identifier, host.GetProcessIdentifiers(NAME))
            self.assertEqual(host.GetThreadCount(identifier), 1)
            self.assertIsNone(host.GetProcessIdentifier(2**31 - 1))
            self.assertTrue(math.isnan(host.GetPercentProcessorTime(None, 0)))
            with self.assertRaisesRegex(xmlrpc.client.Fault, 'camp.*Gone'):
                host.GetNetBytesSent('no such interface')

    def test_the_installed_campmon_serves_every_function_of_the_paper(self):
        with program(sys.executable, '-m', 'camp.campmon', 'serve', '0') as server:
            self.serves(server.stdout.readline().strip())

    def test_a_server_of_python_s_own_serves_process_identifiers(self):
        # It cannot send other results above 2**31 (OverflowError), which campmon can.
        with xmlrpc.server.SimpleXMLRPCServer(('127.0.0.1', 0), logRequests=False) as server, Sleeper(NAME) as child:
            for name in ('GetProcessIdentifier', 'GetProcessIdentifiers', 'GetThreadCount', 'GetCPUtime_Total'):
                server.register_function(getattr(paper, name), name)
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                with xmlrpc.client.ServerProxy('http://{}:{}'.format(*server.server_address)) as host:
                    identifier = host.GetProcessIdentifier(child.pid)
                    self.assertEqual(identifier, child.pid)
                    self.assertIn(identifier, host.GetProcessIdentifiers(NAME))
                    self.assertEqual(host.GetThreadCount(identifier), 1)
                    # Also an identifier that the client has made.
                    self.assertEqual(host.GetThreadCount(paper.GetProcessIdentifier(child.pid)), 1)
            finally:
                server.shutdown()
                thread.join()

    def test_campmon_sends_counters_of_more_than_32_bits(self):
        script = f'''
import runpy, sys
from camp import paper
paper.GetNetBytesSent = lambda interface: 2**40 + 1
paper.GetNetBytesRecvd = lambda interface: 2**31
paper.GetNetPacketsSent = lambda interface: 2**31 - 1
sys.argv[1:] = ['serve', '0']
runpy.run_path({str(CAMPMON)!r}, run_name='__main__')
'''
        with program(sys.executable, '-c', script) as server:
            with xmlrpc.client.ServerProxy(server.stdout.readline().strip()) as host:
                self.assertEqual((host.GetNetBytesSent('lo'), host.GetNetBytesRecvd('lo'),
                                  host.GetNetPacketsSent('lo')), (2**40 + 1, 2**31, 2**31 - 1))


if __name__ == '__main__':
    unittest.main()
