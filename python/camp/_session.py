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
        """Ends the session, once who reads it has its answer; again: does nothing."""
        self._session = None  # without the lock, which a thread that no fork brings along may have

    def _open(self) -> object:
        session = self._session
        if session is None:
            raise Invalid('the session is closed')
        return session

    def __enter__(self: _Own) -> _Own:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()
