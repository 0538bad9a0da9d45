"""Exceptions: each is a camp.Error, and also the exception of Python that fits it."""

import errno
import re
from typing import Any, Dict, Optional, Tuple, Type

__all__ = ['Error', 'FormatError', 'Gone', 'Invalid', 'NotFound', 'NotSupported', 'OutOfMemory',
           'Permission', 'ReadError', 'Unreachable']


class Error(Exception):
    """A call of the library failed.

    str() is one line that ends in what the caller can do.

    Attributes:
        code: the library's result (enum camp_result of camp.h), below 0.
        system_error: the system's error number (errno of an OSError); None: there is none.
    """

    code: int = 0
    system_error: Optional[int] = None

    def __init__(self, message: str, code: int = 0, system_error: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code or self.code
        self.system_error = system_error

    def __reduce__(self) -> Tuple[Any, ...]:
        """Keeps all attributes, errno included, when a pool of processes sends the exception back."""
        return _make, (type(self), self.code, self.system_error, str(self))


class Invalid(Error, ValueError):
    """An argument is wrong: correct the call."""

    code = -1


class NotSupported(Error):
    """This system, kernel or configuration does not count that."""

    code = -2


class Permission(Error, PermissionError):
    """A capability or permission is missing; the message names it."""

    code = -3


class Gone(Error, ProcessLookupError):
    """The process, thread, CPU, interface or disk does not exist (any more)."""

    code = -4


class NotFound(Error, FileNotFoundError):
    """camp.frames(): there is no such recording, table or database file."""

    code = -4


class Unreachable(Error, ConnectionError):
    """camp.frames(): the database or Prometheus does not answer (any more). `errno` is the reason if it is
    known."""

    code = -4


class OutOfMemory(Error, MemoryError):
    """The kernel had no memory left: try again later."""

    code = -6


class ReadError(Error, OSError):
    """Reading failed: see errno. EMFILE and ENFILE: no file descriptor is left."""

    code = -7


class FormatError(Error):
    """What was read is not what this system writes: a bug, or a fixture."""

    code = -8


_BY_CODE: Dict[int, Type[Error]] = {
    kind.code: kind
    for kind in (Invalid, NotSupported, Permission, Gone, OutOfMemory, ReadError, FormatError)}

_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)

# What the library advises to users of its commands, and what is true for a Python program: neither the
# group camp nor the capabilities of camp's file help it.
_ADVICE = (
    (': run as root, or see camp doctor',
     ': run Python as root, or with them as ambient capabilities (setpriv(1); docs/python.md, "Privileges")'),
    ('run camp ', 'run Python '),
)

# The options of commands that are arguments of camp.frames(). In a message the value of an option
# follows it, up to a colon or in quotes: "--tier x: no such tier".
_OPTION = re.compile(r'--(tier|query|unit|speed|begin|end|rules|detail|background|queries|host|column|'
                     r'interval)\b(?::|(?: (?=["\']|\S+:))?)')
_SERVER = re.compile('(postgres|postgresql|mariadb|odbc|prometheus):')


def _argument(option: 're.Match[str]') -> str:
    return f'{option[1]}:' if option[0].endswith(':') else f'{option[1]}='


def in_python(message: str) -> str:
    """Turns a message of the library to users of its commands into one to callers: options become arguments,
    and the advice that of a Python program."""
    for to_users, to_callers in _ADVICE:
        message = message.replace(to_users, to_callers)
    return _OPTION.sub(_argument, message.replace('--from ', ''))


def make(code: int, system_error: int, message: str) -> Error:
    """Makes the exception of a result: the extension calls it."""
    kind = _BY_CODE.get(code, Error)
    if system_error in _NO_DESCRIPTOR:  # to the library a lack of space, to Python an OSError
        kind = ReadError
    return _make(kind, code, system_error or None, in_python(message))


def _make(kind: Type[Error], code: int, system_error: Optional[int], message: str) -> Error:
    error = kind(message, code, system_error)
    if system_error and isinstance(error, OSError):
        error.errno = system_error
    return error


def of_source(of: str, error: Error) -> Error:
    """Makes the error of a source beyond this machine: there, what does not exist is a file or a server, not
    a process."""
    is_server = _SERVER.match(of) is not None
    if isinstance(error, Gone):
        kind: Type[Error] = Unreachable if is_server else NotFound
    elif error.system_error == errno.ENOENT and not is_server:
        kind = NotFound
    else:
        return error
    return _make(kind, kind.code, error.system_error, str(error))
