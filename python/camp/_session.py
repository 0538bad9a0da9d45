"""A session with the kernel: what is open until it is closed, and one thread's at a time."""

import threading
from types import TracebackType
from typing import Optional, Type, TypeVar

from camp._errors import Invalid

_Own = TypeVar('_Own', bound='Session')


class Session:
    """Each call takes the lock, so that threads may share one."""

    def __init__(self, session: object) -> None:
        self._session: Optional[object] = session
        self._lock = threading.Lock()

    def close(self) -> None:
        """Ends the session; again: does nothing."""
        with self._lock:
            self._session = None

    def _open(self) -> object:
        if self._session is None:
            raise Invalid('the session is closed')
        return self._session

    def __enter__(self: _Own) -> _Own:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()
