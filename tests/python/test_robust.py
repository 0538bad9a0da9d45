"""Short-lived processes, users without privileges, memory leaks, and the compiled module."""

import ast
import gc
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tracemalloc
import unittest

import camp
from camp import _camp
from subjects import NEEDS_MICROSTATES

PACKAGE = pathlib.Path(camp.__file__).parent
TREE = pathlib.Path(__file__).resolve().parents[2]
ROOT = os.geteuid() == 0
NEEDS_ROOT = unittest.skipUnless(ROOT, 'needs root')
# Python allocates memory from the system in arenas of this size (ARENA_SIZE of Objects/obmalloc.c, 64-bit Python
# since 3.10). A call may need a whole new arena.
ARENA_BYTES = 1 << 20
NOBODY_ELSE = ['setpriv', '--reuid=61234', '--regid=61234', '--clear-groups']
SETPRIV = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']


def python(script, *before, **environment):
    """Runs a script in another interpreter and returns its output."""
    done = subprocess.run(
        [*before, sys.executable, '-W', 'error', '-c', script], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        env={**os.environ, 'PYTHONPATH': str(PACKAGE.parent), **environment})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def resident_bytes():
    return camp.process(os.getpid()).read('resident_bytes').resident_bytes


class Vanishing(unittest.TestCase):
    """Processes start and exit all the time during these tests."""

    def setUp(self):
        script = 'while :; do /bin/true & /bin/true & wait; done'
        self.storm = subprocess.Popen(['sh', '-c', script])

    def tearDown(self):
        self.storm.kill()
        self.storm.wait()

    def test_a_process_that_exits_while_it_is_read_is_reported_as_gone(self):
        gone = read = 0
        table = camp.process_table()
        before = camp.fork_count()
        for _ in range(600):  # on a busy machine it takes many tries until a process exits during a read
            if gone > 0 and read > 10 and camp.fork_count() - before > 10:
                break
            for process in camp.processes():
                for ask in (process.read, process.cpu_ns, process.threads):
                    try:
                        ask()
                        read += 1
                    except camp.Gone:
                        gone += 1
            for name in ('true', 'sh'):
                camp.processes(name)
            self.assertIn(os.getpid(), table.read().ids)
        self.assertGreater(camp.fork_count() - before, 10)
        self.assertGreater(read, 10)
        self.assertGreater(gone, 0)

    def test_a_short_lived_process_is_in_the_frame_of_its_interval(self):
        try:
            frames = camp.frames('check', tier='taskstats', interval=0.3)
        except (camp.Permission, camp.NotSupported) as error:
            self.skipTest(str(error))
        with frames:
            next(frames)
            subprocess.run(['true'], check=True)
            frame = next(frames)
        self.assertTrue(any(entity.ended and entity.name == 'true' for entity in frame.entities))

    def test_each_exited_child_has_an_exit_record_with_its_name(self):
        try:
            stats = camp.taskstats(listen=True)
        except (camp.Permission, camp.NotSupported) as error:
            self.skipTest(str(error))
        with stats:
            child = subprocess.Popen(['true'])
            child.wait()
            seen = {record.pid: record for record in stats.exits()}
            self.assertEqual(seen[child.pid].name, 'true')
            self.assertEqual(seen[child.pid].parent, os.getpid())
            self.assertRaises(camp.Invalid, stats.read, [1])
        self.assertRaises(camp.Invalid, stats.exits)


@NEEDS_ROOT
class WithoutRights(unittest.TestCase):
    def setUp(self):
        readable = subprocess.run([*SETPRIV, 'test', '-r', str(PACKAGE / '__init__.py')],
                                  check=False).returncode == 0
        if not readable:
            self.skipTest('an ordinary user cannot read the tree')

    def test_an_error_for_an_ordinary_user_names_the_missing_capability(self):
        said = python('''
import camp
for ask in (camp.microstates, lambda: camp.frames('threads', tier='bpf'), camp.taskstats):
    try:
        ask()
    except PermissionError as error:
        print(isinstance(error, camp.Permission), error)
''', *SETPRIV)
        self.assertEqual([line.split()[0] for line in said.splitlines()], ['True'] * 3)
        self.assertEqual(len(re.findall(r'CAP_\w+', said)) >= 3, True, said)

    def test_the_advice_for_an_ordinary_user_helps_a_python_program(self):
        # The advice for the command camp (its group, the capabilities of its file) does not.
        said = python('''
import camp
for ask in (camp.microstates, lambda: camp.frames('cgroups'), camp.taskstats):
    try:
        ask()
    except camp.Permission as error:
        print(error)
print(camp.frames('threads').note)
''', *SETPRIV).splitlines()
        self.assertEqual(len(said), 4)
        for line in said:
            self.assertNotIn('camp doctor', line)
            self.assertRegex(line, r'run Python as root, or .* ambient capabilities \(setpriv\(1\); docs/python.md')

    @NEEDS_MICROSTATES
    def test_the_documented_ambient_capabilities_open_microstates_and_taskstats(self):
        manual = (TREE / 'docs' / 'python.md').read_text(encoding='utf-8')
        options = re.search(r'--inh-caps=\S+ --ambient-caps=\S+', manual).group().split()
        said = python('''
import camp
with camp.microstates() as states, camp.taskstats() as stats:
    print(len(states.threads()) > 0, len(stats.read([1])), camp.frames('cgroups').tier)
''', *SETPRIV, *options)
        self.assertEqual(said, 'True 1 bpf\n')

    def test_an_ordinary_user_gets_a_note_that_threads_come_from_schedstat(self):
        said = python('''
import camp
with camp.frames('threads', interval=0.05) as frames:
    print(frames.tier, 'CAP_BPF' in frames.note, *[column.name for column in next(frames).columns])
''', *SETPRIV)
        self.assertEqual(said, 'schedstat True cpu_ns run_queue_ns off_cpu_ns\n')

    def test_an_ordinary_user_gets_measured_times_of_all_processes(self):
        said = python(f'''
import camp
process = camp.process({os.getpid()})
print(process.cpu_ns() > 0, process.read('cpu_ns').cpu_provenance, process.read().read_bytes)
with camp.frames('check', interval=0.05) as frames:
    print(frames.tier, next(frames).note == '', 'sampled_ns' in next(frames))
''', *SETPRIV)
        self.assertEqual(said, 'True measured None\nschedstat True False\n')

    def test_a_process_hidden_by_hidepid_is_reported_as_gone(self):
        script = f'''
import os, camp
print([process.pid for process in camp.processes()] == [os.getpid()])
for ask in (camp.process, ):
    try:
        ask({os.getpid()})
    except camp.Gone:
        print('gone')
'''
        mount = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'
        said = python(script, 'unshare', '-m', 'sh', '-c', mount, 'sh', *NOBODY_ELSE)
        self.assertEqual(said, 'True\ngone\n')

    def test_an_unreadable_process_is_not_in_the_process_table(self):
        script = 'import os, camp; print([*camp.process_table().read().ids] == [os.getpid()])'
        mount = 'mount -t proc -o hidepid=1 proc /proc && exec "$@"'
        self.assertEqual(python(script, 'unshare', '-m', 'sh', '-c', mount, 'sh', *NOBODY_ELSE), 'True\n')


class Fixtures(unittest.TestCase):
    def test_a_source_may_read_another_folder_than_proc(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / 'stat').write_text(
                'cpu  20 0 10 70 0 0 0 0 5 0\ncpu0 20 0 10 70 0 0 0 0 5 0\nprocesses 7\n',
                encoding='ascii')
            source = camp.Source(proc=folder)
            cpu = camp.cpu(source=source)
            # In the file, user time includes guest time.
            self.assertEqual((cpu.user_ns, cpu.guest_ns, cpu.idle_ns),
                             (150_000_000, 50_000_000, 700_000_000))
            self.assertEqual(camp.fork_count(source), 7)
            self.assertRaises(camp.Error, camp.memory, source)
            (pathlib.Path(folder) / 'stat').write_text('cpu  1 x\n', encoding='ascii')
            self.assertRaises(camp.FormatError, camp.cpu, None, source)

    def test_a_column_that_an_old_kernel_lacks_is_none_instead_of_0(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / 'stat').write_text('cpu  20 0 10 70\ncpu0 20 0 10 70\n',
                                                       encoding='ascii')
            cpu = camp.cpu(source=camp.Source(proc=folder))
        self.assertEqual((cpu.user_ns, cpu.iowait_ns, cpu.steal_ns), (200_000_000, None, None))


class Leaks(unittest.TestCase):
    """Thousands of calls leak no memory and no descriptors."""

    def leaves_nothing(self, call, times):
        for _ in range(times // 10):  # fills pools and caches
            call()
        gc.collect()
        tracemalloc.start()
        call()
        before, resident = tracemalloc.get_traced_memory()[0], resident_bytes()
        for _ in range(times):
            call()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        # If each call leaked one object, the memory of Python or C would grow by at least 16 bytes x times.
        self.assertLess(grown, 4 * times)
        self.assertLess(resident_bytes() - resident, ARENA_BYTES + 8 * times)

    def test_reading_counters_leaks_no_memory(self):
        def call():
            camp.cpu()
            camp.pid_cpu_ns(1)
            camp.memory()
        self.leaves_nothing(call, 10_000)

    def test_reading_a_process_leaks_no_memory(self):
        process = camp.process(os.getpid())
        self.leaves_nothing(process.read, 5_000)

    def test_raising_errors_leaks_no_memory(self):
        def call():
            for ask in (lambda: camp.process(2**31 - 1), lambda: camp.network('none'),
                        lambda: camp.frames('none'), lambda: camp.pid_cpu_ns(2**31 - 1),
                        lambda: camp.network(3), lambda: camp.utilisation((1,), (2,))):
                try:
                    ask()
                except (camp.Error, TypeError):
                    pass
        self.leaves_nothing(call, 3_000)

    def test_reading_frames_leaks_no_memory(self):
        with camp.frames('check', interval=0) as frames:
            def call():
                frame = frames.read()
                frame.entities, frame.values, frame.beside
            self.leaves_nothing(call, 300)

    def test_opening_and_closing_sources_leaks_no_file_descriptors(self):
        def count():
            return len(os.listdir('/proc/self/fd'))
        camp.frames('check').close()
        before = count()
        for _ in range(50):
            camp.frames('check')
            camp.frames('check').close()
        self.assertEqual(count(), before)


class Binary(unittest.TestCase):
    """The extension module is one file for all versions of Python from 3.8 on."""

    def symbols(self, which):
        out = subprocess.run(['nm', '-D', which, str(PACKAGE / '_camp.abi3.so')], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        return {line.split()[-1] for line in out.splitlines()}

    def test_the_module_uses_only_the_stable_abi_of_python(self):
        # The headers of Python also use these private names, even with Py_LIMITED_API.
        private = {'_Py_Dealloc', '_Py_NoneStruct', '_Py_TrueStruct', '_Py_FalseStruct'} | {
            f'_Py{name}_SizeT' for name in ('Arg_Parse', 'Arg_ParseTuple', 'Arg_VaParse', '_BuildValue',
                                            'Arg_ParseTupleAndKeywords', 'Object_CallFunction')}
        symbols = {name for name in self.symbols('--undefined-only') if re.match('_?Py', name)}
        self.assertGreater(len(symbols), 1)
        self.assertLessEqual({name for name in symbols if name.startswith('_')}, private)
        self.assertFalse(symbols & {'PyType_GetModuleState', 'PyObject_GetBuffer'})

    def test_every_symbol_that_the_module_needs_can_be_resolved(self):
        python('import camp', LD_BIND_NOW='1')

    def test_the_module_exports_only_its_init_function(self):
        self.assertEqual(self.symbols('--defined-only'), {'PyInit__camp'})

    def test_importing_camp_loads_no_database_client_libraries(self):
        out = python('import camp; print(open("/proc/self/maps").read())')
        for library in ('libpq', 'libmariadb', 'libodbc', 'libcurl'):
            self.assertNotIn(library, out)

    def test_all_modules_are_valid_python_3_8(self):
        for file in PACKAGE.glob('*.py*'):
            if file.suffix in ('.py', '.pyi'):
                ast.parse(file.read_text(encoding='utf-8'), file.name, feature_version=(3, 8))

    def test_the_type_stubs_match_the_module(self):
        tree = ast.parse((PACKAGE / '_camp.pyi').read_text(encoding='utf-8'))
        said = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(said, {name for name in dir(_camp)
                                if callable(getattr(_camp, name)) and not name.startswith('__')})

    def test_every_public_name_has_a_docstring(self):
        for name in camp.__all__:
            if callable(getattr(camp, name)):
                self.assertTrue(getattr(camp, name).__doc__, name)

    # Moments, resolutions, and counters of Windows alone.
    NO_COUNTERS = ('time_ns', 'resolution_ns', 'cpu_resolution_ns', 'idle_cycles_ns', 'committed_bytes', 'other_bytes')

    def test_each_field_with_a_time_or_a_size_is_in_the_catalogue(self):
        counters = {counter.name: counter for counter in camp.counters()}
        for record, kind in ((camp.Cpu, 'cpu'), (camp.Memory, 'memory'), (camp.Network, 'network'),
                             (camp.Disk, 'disk'), (camp.Task, 'process'),
                             (camp.System, 'system')):
            for field in record._fields:
                if field.endswith(('_ns', '_bytes')) and field not in self.NO_COUNTERS:
                    self.assertIn(f'{kind}.{field}', counters)
        self.assertEqual(camp.provenance('process.cpu_ns').obtained, 'measured')
        self.assertRaises(ValueError, camp.provenance, 'process.none')


if __name__ == '__main__':
    unittest.main()
