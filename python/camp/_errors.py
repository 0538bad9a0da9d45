"""What goes wrong, as exceptions: each is a camp.Error, and the exception of Python that fits it."""

import errno
import re
from typing import Dict, Optional, Type

__all__ = ['Error', 'FormatError', 'Gone', 'Invalid', 'NotFound', 'NotSupported', 'OutOfMemory',
           'Permission', 'ReadError', 'Unreachable']


class Error(Exception):
    """The library could not do what was asked for.

    str() is one line that ends in what can be done about it.

    Attributes:
        code: the library's result (enum camp_result of camp.h), below 0.
        system_error: the system's error number (errno of what is an OSError); None: it was none.
    """

    code: int = 0
    system_error: Optional[int] = None

    def __init__(self, message: str, code: int = 0, system_error: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code or self.code
        self.system_error = system_error


class Invalid(Error, ValueError):
    """An argument is off: mend the call."""

    code = -1


class NotSupported(Error):
    """This system, kernel or configuration does not count that."""

    code = -2


class Permission(Error, PermissionError):
    """A capability or permission is missing; the message names it."""

    code = -3


class Gone(Error, ProcessLookupError):
    """The process, thread, CPU, interface or disk is not there, or not any more."""

    code = -4


class NotFound(Error, FileNotFoundError):
    """Of camp.frames(): there is no such recording, table or database file."""

    code = -4


class Unreachable(Error, ConnectionError):
    """Of camp.frames(): the database or Prometheus does not answer, or not any more. `errno` says how,
    where it is known."""

    code = -4


class OutOfMemory(Error, MemoryError):
    """The kernel had no memory or no descriptor left: try again later."""

    code = -6


class ReadError(Error, OSError):
    """The system refused to be read: see system_error."""

    code = -7


class FormatError(Error):
    """What was read is not what this system writes: a bug, or a fixture."""

    code = -8


_BY_CODE: Dict[int, Type[Error]] = {
    kind.code: kind
    for kind in (Invalid, NotSupported, Permission, Gone, OutOfMemory, ReadError, FormatError)}


# The options of `camp top` and the like that camp.frames() has as arguments. What is theirs by its
# colon, or by quotes, stands behind them: --tier x: no such tier.
_OPTION = re.compile(r'--(tier|query|unit|speed|begin|end|rules|detail|background|queries|host|column|'
                     r'interval)\b(?::|(?: (?=["\']|\S+:))?)')
_SERVER = re.compile('(postgres|postgresql|mariadb|odbc|prometheus):')


def _argument(option: 're.Match[str]') -> str:
    return f'{option[1]}:' if option[0].endswith(':') else f'{option[1]}='


def in_python(message: str) -> str:
    """What the library says of the options of commands, said of arguments."""
    return _OPTION.sub(_argument, message.replace('--from ', ''))


def make(code: int, system_error: int, message: str) -> Error:
    """The exception of a result: the extension calls it."""
    return _make(_BY_CODE.get(code, Error), code, system_error or None, message)


def _make(kind: Type[Error], code: int, system_error: Optional[int], message: str) -> Error:
    error = kind(in_python(message), code, system_error)
    if system_error and isinstance(error, OSError):
        error.errno = system_error
    return error


def of_source(of: str, error: Error) -> Error:
    """The same of a source beyond this machine: what is not there is a file or a server, and no
    process."""
    is_server = _SERVER.match(of) is not None
    if isinstance(error, Gone):
        kind: Type[Error] = Unreachable if is_server else NotFound
    elif error.system_error == errno.ENOENT and not is_server:
        kind = NotFound
    else:
        return error
    return _make(kind, kind.code, error.system_error, str(error))
