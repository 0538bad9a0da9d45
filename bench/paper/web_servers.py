"""nginx and Apache for a part of the evaluation: Debian's programs, with a configuration in a temporary folder,
as a user without rights, on an address that only this machine can reach. They are ended by their pid.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time

from setting import Missing, child, need_program, ordinary_user, until

DOCUMENT_BYTES = 8192
APACHE_MODULES = "/usr/lib/apache2/modules"

NGINX = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen {address}:{port}; root {folder}/www; }}
}}
"""

# The document is open to all by default: no module of access control is loaded.
APACHE = """
ServerRoot {folder}
ServerName localhost
DefaultRuntimeDir {folder}
PidFile {folder}/pid
Mutex default:{folder}
ErrorLog {folder}/error.log
LoadModule mpm_{mpm}_module {modules}/mod_mpm_{mpm}.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule dir_module {modules}/mod_dir.so
DocumentRoot {folder}/www
DirectoryIndex index.html
Listen {address}:{port}
KeepAlive On
KeepAliveTimeout 5
MaxKeepAliveRequests 0
{settings}
"""


@contextlib.contextmanager
def folder_of_server(name):
    """A folder with a document, which the server's user may write to."""
    folder = tempfile.mkdtemp(prefix=f"camp-{name}-")
    try:
        os.mkdir(f"{folder}/www")
        with open(f"{folder}/www/index.html", "w", encoding="ascii") as file:
            file.write("x" * DOCUMENT_BYTES)
        if os.geteuid() == 0:
            for path in (folder, f"{folder}/www", f"{folder}/www/index.html"):
                shutil.chown(path, "nobody")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def complaint(folder):
    """Returns the messages of a server that does not serve."""
    words = ""
    for name in ("said.log", "error.log"):
        with contextlib.suppress(OSError), open(f"{folder}/{name}", encoding="utf-8") as file:
            words += " ".join(file.read().split())
    return words[-300:]


@contextlib.contextmanager
def server(command, folder, address, port, session=False):
    """Yields the server's process once it serves; with `session`, it is the first process of a new session."""
    with open(f"{folder}/said.log", "w", encoding="ascii") as said, \
            child(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                  start_new_session=session) as process:
        until(lambda: process.poll() is not None or children_of(process.pid), "a server begins")
        time.sleep(0.3)
        if process.poll() is not None:
            raise Missing(f"the server on {address}:{port} does not begin: {complaint(folder)}")
        yield process


@contextlib.contextmanager
def nginx():
    """Runs nginx, and yields (process, address, port)."""
    program = need_program("nginx", "nginx")
    address, port = "127.0.0.1", free_port()
    with folder_of_server("nginx") as folder:
        with open(f"{folder}/conf", "w", encoding="ascii") as file:
            file.write(NGINX.format(folder=folder, address=address, port=port))
        command = [*ordinary_user(), program, "-p", folder, "-e", f"{folder}/error.log", "-c",
                   f"{folder}/conf"]
        with server(command, folder, address, port) as process:
            yield process, address, port


@contextlib.contextmanager
def apache(mpm, settings, address, port, before=()):
    """Runs Apache with a processing module, by a command that starts with `before`; yields (process, folder).
    Its processes are a session."""
    program = need_program("apache2", "apache2-bin")
    with folder_of_server("apache") as folder:
        with open(f"{folder}/conf", "w", encoding="ascii") as file:
            file.write(APACHE.format(folder=folder, modules=APACHE_MODULES, mpm=mpm, address=address,
                                     port=port, settings="\n".join(settings)))
        command = [*before, *ordinary_user(), program, "-d", folder, "-f", f"{folder}/conf",
                   "-DFOREGROUND"]
        with server(command, folder, address, port, True) as process:
            yield process, folder
