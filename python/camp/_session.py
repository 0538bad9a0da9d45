"""A session with the kernel, open until it is closed."""

import threading
from types import TracebackType
from typing import Optional, Type, TypeVar

from camp._errors import Invalid

_Own = TypeVar('_Own', bound='Session')


class Session:
    """Several threads may use one session: each method that reads holds its lock."""

    def __init__(self, session: object) -> None:
        self._session: Optional[object] = session
        self._lock = threading.Lock()

    def close(self) -> None:
        """Ends the session after the calls in progress. A second call does nothing."""
        self._session = None  # without the lock: after a fork the thread that held it may not exist

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
