"""A guest: one kernel under qemu, with camp in its initial RAM disk.

The guest has no KVM, so that it runs on every computer: qemu translates each instruction (TCG). There are two kinds.

A guest of two CPUs is for laws of counts and order. On amd64 both CPUs run in one thread of qemu. With a thread for
each CPU, the guest crashed (int3 in __sysvec_apic_timer_interrupt) while the kernel changed its own code to switch a
tracepoint on or off. On arm64 each CPU has a thread, because a law there is about the order in which two CPUs see each
other's stores. The computer interrupts these CPUs, and the guest does not know for how long.

An exact guest is for laws of time. Its clocks count instructions: one takes 1 ns (-icount). While its CPU runs and the
computer does something else, they stand still, so that the bounds of `camp verify` hold unchanged. (While its CPU is
idle, they go on, and a wakeup may be late.) It has one CPU, because two would
take turns: while one runs, an interrupt of the other goes on for up to a tick. Only the kernel with nohz_full, which
needs a second CPU, has two. The boot of Linux 6.1 waits forever for a second CPU with such a clock; it can be
started later.

The disks are files: "formatted" has an ext4 file system, "plain" is read and written as a device. There is no
network besides the guest's own.
"""
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from kernel_list import CACHE, TREE, Unavailable, busybox, image, modules_directory, one_at_a_time, run

# The modules that the guest loads, with those that they need. Some kernels have them built in.
MODULES = ('virtio_pci', 'virtio_blk', 'crc32c_generic', 'ext4', 'veth')
MACHINES = {  # qemu's program, its options for the machine, and whether each CPU has a thread of qemu
    'amd64': ('qemu-system-x86_64', ['-M', 'q35', '-cpu', 'max'], 'console=ttyS0', 'single'),
    'arm64': ('qemu-system-aarch64', ['-M', 'virt', '-cpu', 'max,pauth-impdef=on'], 'console=ttyAMA0', 'multi'),
    's390x': ('qemu-system-s390x', ['-M', 's390-ccw-virtio'], 'console=ttysclp0', 'single'),
}
# Laws in tests/live that need another architecture or kernel.
LAWS = ('test_live_causes_cgroup', 'test_live_causes_chain', 'test_live_causes_groups', 'test_live_causes_need',
        'test_live_states_exits', 'test_live_states_order', 'test_live_states_trap')
TRIPLES = {'amd64': 'x86_64-linux-gnu', 'arm64': 'aarch64-linux-gnu', 's390x': 's390x-linux-gnu'}
CPUS = 2
MEMORY_MB = 900
LIMIT_S = 900  # of a boot with all tests
DISK_MB = 64
# A request takes 2.5 ms. Waits that are short beside the instructions of a wakeup could not be judged.
REQUESTS_PER_S = 400


def programs_of(architecture):
    """The directory of a system with libraries of the architecture, and the build directory there."""
    if architecture == 'amd64':
        return pathlib.Path('/'), TREE / 'build/gcc'
    root = TREE / 'build/systems' / f'bookworm-{architecture}'
    return root, root / 'home/builder/build'


def camp_of(architecture):
    """The camp of a guest: the static file, which needs no library there, where there is one (packaging/static)."""
    file = TREE / 'build/static' / architecture / 'camp'
    return file if architecture in ('amd64', 'arm64') else programs_of(architecture)[1] / 'src/camp'


def build_for(kernel):
    """Builds camp and the laws for the guest, unless they are built already and no source is newer."""
    words = (['tools/build', 'build/gcc'] if kernel.architecture == 'amd64' else
             ['tests/systems/run', f'bookworm-{kernel.architecture}'])
    programs = {programs_of(kernel.architecture)[1] / 'src/camp': words}
    if camp_of(kernel.architecture) not in programs:
        programs[camp_of(kernel.architecture)] = ['packaging/static/build', kernel.architecture]
    sources = [file for folder in ('include', 'src') for file in (TREE / folder).rglob('*.[ch]')]
    with one_at_a_time():
        for program, command in programs.items():
            if not program.exists() or program.stat().st_mtime < max(file.stat().st_mtime for file in sources):
                run(str(TREE / command[0]), *command[1:], cwd=TREE)


def elf(program, *options):
    return run('readelf', '--wide', *options, str(program), env={**os.environ, 'LC_ALL': 'C'})


def libraries(program, root, triple):
    """{path in the guest: file} of the libraries that a program needs, and of its loader."""
    found, wanted = {}, [program]
    loader = re.search(r'interpreter: ([^\]]+)', elf(program, '--program-headers'))
    if loader:
        found[loader.group(1)] = (root / loader.group(1).lstrip('/')).resolve()
    while wanted:
        for name in re.findall(r'\(NEEDED\).*\[(.*)\]', elf(wanted.pop(), '--dynamic')):
            path = f'/lib/{triple}/{name}'
            file = next((root / folder / triple / name for folder in ('lib', 'usr/lib')
                         if (root / folder / triple / name).exists()), None)
            if file is None:
                raise Unavailable(f'{root} has no library {name}')
            if path not in found:
                found[path] = file.resolve()
                wanted.append(file)
    return found


def module_files(directory):
    return {re.sub(r'\.ko(\.xz)?$', '', file.name).replace('-', '_'): file for file in directory.rglob('*.ko*')}


def module_code(file):
    code = file.read_bytes()
    return lzma.decompress(code) if file.suffix == '.xz' else code


def in_order(names, files, done):
    """Adds (name, code) of the modules to `done`, each after those that it needs."""
    for name in names:
        if name in files and all(name != other for other, _ in done):
            code = module_code(files[name])
            needed = re.search(rb'\0depends=([^\0]*)\0', code)
            in_order([word.replace('-', '_') for word in needed.group(1).decode().split(',') if word] if needed else [],
                     files, done)
            done.append((name, code))
    return done


def make_initramfs(kernel, commands, into):
    """Writes the initial RAM disk: camp, its libraries, busybox, the modules, and tests/kernels/guest.sh."""
    root, build = programs_of(kernel.architecture)
    tree = into / 'tree'
    for folder in ('bin', 'proc', 'sys', 'dev', 'tmp', 'etc', 'modules', 'var/tmp'):
        (tree / folder).mkdir(parents=True)
    shutil.copy(busybox(kernel.architecture), tree / 'bin/busybox')
    shutil.copy(TREE / 'tests/kernels/guest.sh', tree / 'init')
    (tree / 'init').chmod(0o755)
    (tree / 'commands').write_text(commands)
    laws = [build / 'tests/live' / law for law in LAWS if kernel.microstates]
    for program in [camp_of(kernel.architecture), *laws]:
        shutil.copy(program, tree / 'bin')
        for path, file in libraries(program, root, TRIPLES[kernel.architecture]).items():
            target = tree / path.lstrip('/')
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    modules = in_order(MODULES, module_files(modules_directory(kernel)), [])
    for name, code in modules:
        (tree / 'modules' / name).write_bytes(code)
    (tree / 'modules/order').write_text(''.join(f'{name}\n' for name, _ in modules))
    run('sh', '-c', 'find . | cpio --create --format=newc --quiet >../initramfs', cwd=tree)
    shutil.rmtree(tree)
    return into / 'initramfs'


def make_disk(path, formatted):
    with open(path, 'wb') as file:
        file.truncate(DISK_MB << 20)
    if formatted:
        run('/sbin/mkfs.ext4', '-q', str(path))
    return path


def clock_of(exact, threads):
    """qemu's options for the CPUs and clocks of a guest."""
    if exact:
        return ['-accel', 'tcg,thread=single', '-icount', 'shift=0,sleep=on', '-rtc', 'clock=vm']
    return ['-accel', f'tcg,thread={threads}']


def boot(kernel, commands, exact):
    """Boots a kernel and runs the shell commands there, in an exact guest or in one of two CPUs. Returns the text
    between the markers of guest.sh, and the whole text of the console."""
    program, machine, console, threads = MACHINES[kernel.architecture]
    with tempfile.TemporaryDirectory(prefix='camp-kernel-', dir=CACHE) as name:
        directory = pathlib.Path(name)
        initramfs = make_initramfs(kernel, commands, directory)
        disks = [make_disk(directory / 'formatted', True), make_disk(directory / 'plain', False)]
        limit = f',throttling.iops-total={REQUESTS_PER_S}' if exact else ''
        drives = [word for disk in disks for word in
                  ('-drive', f'file={disk},if=none,format=raw,id={disk.name}{limit}',
                   '-device', f'virtio-blk,drive={disk.name},serial={disk.name}')]
        words = [program, *machine, *clock_of(exact, threads),
                 '-smp', str(kernel.exact_cpus if exact else CPUS), '-m', str(MEMORY_MB),
                 '-nographic', '-no-reboot', '-nic', 'none', '-kernel', str(image(kernel)),
                 '-initrd', str(initramfs), *drives,
                 '-append', f'{console} quiet loglevel=1 panic=-1 {kernel.parameters}'
                            f'{" maxcpus=1 tsc=reliable" if exact else ""}']
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
            text = done.stdout
        except subprocess.TimeoutExpired as late:
            text = late.stdout or b''
    console_text = text.decode(errors='replace').replace('\r', '')
    found = re.search(r'##### start\n(.*)^##### end$', console_text, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else None, console_text
