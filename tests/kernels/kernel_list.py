"""The kernels that are booted, and how their packages are fetched.

Debian's archive has each kernel as a package that depends on the image, for example linux-image-cloud-amd64.
Newer releases divide the image into linux-binary-VERSION and linux-modules-VERSION. The packages are unpacked
into build/kernels/SUITE-PACKAGE and kept there, so that a later run needs no network.
"""
import contextlib
import dataclasses
import fcntl
import pathlib
import re
import shutil
import subprocess

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = TREE / 'build' / 'kernels'


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel to boot. `package` depends on the newest image of `suite`."""

    name: str
    suite: str
    package: str
    about: str
    architecture: str = 'amd64'
    parameters: str = ''  # of the kernel's command line
    exact_cpus: int = 1  # of the exact guest (guest.py)
    microstates: bool = True  # whether they can be measured there
    traps: bool = True  # whether the time of page faults is one of them

    @property
    def directory(self):
        return CACHE / f'{self.suite}-{self.package}'


KERNELS = [
    Kernel('5.10', 'bullseye', 'linux-image-cloud-amd64', 'Debian 11', microstates=False),
    Kernel('6.1', 'bookworm', 'linux-image-cloud-amd64', 'Debian 12'),
    Kernel('6.1-rt', 'bookworm', 'linux-image-rt-amd64', 'Debian 12 with PREEMPT_RT'),
    Kernel('6.1-nohz-full', 'bookworm', 'linux-image-cloud-amd64', 'Debian 12 with nohz_full=1',
           parameters='nohz_full=1', exact_cpus=2),
    Kernel('6.12', 'trixie', 'linux-image-cloud-amd64', 'Debian 13'),
    Kernel('backports', 'trixie-backports', 'linux-image-cloud-amd64', 'the newest backport for Debian 13'),
    Kernel('sid', 'sid', 'linux-image-cloud-amd64', 'Debian unstable'),
    Kernel('arm64', 'bookworm', 'linux-image-cloud-arm64', 'Debian 12 on arm64', 'arm64', traps=False),
    Kernel('s390x', 'bookworm', 'linux-image-s390x', 'Debian 12 on s390x (big-endian)', 's390x', microstates=False),
]


class Unavailable(Exception):
    """The packages cannot be fetched."""


def run(*words, **options):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise Unavailable(f'{" ".join(map(str, words[:3]))} ...: {done.stdout.strip()[-500:]}')
    return done.stdout


class Archive:
    """One suite of Debian for one architecture, with apt's files in a directory of its own."""

    def __init__(self, suite, architecture):
        self.directory = CACHE / 'apt' / f'{suite}-{architecture}'
        for folder in ('state/lists/partial', 'cache/archives/partial', 'packages'):
            (self.directory / folder).mkdir(parents=True, exist_ok=True)
        (self.directory / 'status').touch()
        sources = self.directory / 'sources.list'
        address = run(str(TREE / 'tools/root'), 'archive').strip()
        sources.write_text(f'deb {address} {suite} main\n')
        self.options = [word for option in (
            f'APT::Architecture={architecture}', f'APT::Architectures={architecture}', 'APT::Sandbox::User=',
            f'Dir::Etc::sourcelist={sources}', 'Dir::Etc::sourceparts=/dev/null',
            f'Dir::State={self.directory}/state', f'Dir::State::status={self.directory}/status',
            f'Dir::Cache={self.directory}/cache', 'Acquire::Check-Valid-Until=false',
            'Acquire::Languages=none') for word in ('-o', option)]
        run('apt-get', *self.options, '-qq', 'update')

    def depends(self, package):
        text = run('apt-cache', *self.options, 'show', '--no-all-versions', package)
        found = re.search(r'^Depends: (.*)$', text, re.MULTILINE)
        return [re.split(r'[ |:]', part.strip())[0] for part in found.group(1).split(',')] if found else []

    def packages_of(self, package):
        """The packages with the files of the kernel on which `package` depends."""
        images = [name for name in self.depends(package) if re.match(r'linux-image-\d', name)]
        if not images:
            raise Unavailable(f'{package} depends on no linux-image-VERSION')
        parts = [name for name in self.depends(images[0]) if re.match(r'linux-(binary|modules)-\d', name)]
        return parts or images[:1]

    def unpack(self, package, into):
        run('apt-get', *self.options, '-qq', 'download', package, cwd=self.directory / 'packages')
        for file in (self.directory / 'packages').glob(f'{package}_*.deb'):
            run('dpkg-deb', '--extract', str(file), str(into))
            file.unlink()


@contextlib.contextmanager
def one_at_a_time():
    """For what two kernels need: apt-get refuses to work while another one works on the same suite, and two builds
    in one directory break each other."""
    with open(CACHE / 'lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(kernel):
    """Fetches a kernel, unless it is in the cache."""
    with one_at_a_time():
        if (kernel.directory / 'fetched').exists():
            return
        shutil.rmtree(kernel.directory, ignore_errors=True)
        archive = Archive(kernel.suite, kernel.architecture)
        for package in archive.packages_of(kernel.package):
            archive.unpack(package, kernel.directory)
        (kernel.directory / 'fetched').touch()


def busybox(architecture):
    """The file busybox for the guest: a static program with the usual commands."""
    directory = CACHE / f'busybox-{architecture}'
    with one_at_a_time():
        if not (directory / 'fetched').exists():
            shutil.rmtree(directory, ignore_errors=True)
            Archive('bookworm', architecture).unpack('busybox-static', directory)
            (directory / 'fetched').touch()
    return directory / 'bin/busybox'


def modules_directory(kernel):
    """The directory with the modules; its name is the kernel's release, for example 6.1.0-50-cloud-amd64."""
    found = [*kernel.directory.glob('lib/modules/*'), *kernel.directory.glob('usr/lib/modules/*')]
    return found[0]


def image(kernel):
    """The file that a boot loader loads."""
    found = [*kernel.directory.glob('boot/vmlinu[xz]-*'), *modules_directory(kernel).glob('vmlinu[xz]')]
    return found[0]
