"""Sessions: signed cookies of users who logged in with their token."""

import json
import secrets
import threading
import time
from pathlib import Path

import msgspec
from itsdangerous import BadData, URLSafeTimedSerializer

from headrace.files import atomic_file
from headrace.web.access.users import Entry, UserFile

AGE_S = 7 * 24 * 3600
"""Seconds after which a user logs in again."""


class Sessions:
    """Makes and checks the values of session cookies.

    A session ends by logging out, with its user, or after a week.

    Raises ValueError if the list of ended sessions is damaged: they would go on.
    """

    def __init__(self, users: UserFile, key: str, data: Path) -> None:
        self._users = users
        self._serializer = URLSafeTimedSerializer(key, salt="headrace session")
        self._path = data / "ended-sessions.json"
        self._lock = threading.Lock()
        self._ended: dict[str, float] = {}
        try:
            self._ended = msgspec.json.decode(self._path.read_bytes(), type=dict[str, float])
        except FileNotFoundError:
            return
        except msgspec.MsgspecError as error:
            raise ValueError(
                f"{self._path}: {error}: remove it, and cookie.key to end all sessions"
            ) from None

    def start(self, entry: Entry) -> str:
        """Return the cookie of a new session."""
        return str(self._serializer.dumps([entry.id, secrets.token_hex(16)]))

    def entry(self, cookie: str) -> Entry | None:
        """Return the user of a session; None if it is none or has ended."""
        user = self._names(cookie)
        return None if user is None or user[1] in self._ended else self._users.with_id(user[0])

    def end(self, cookie: str) -> None:
        """End a session."""
        user = self._names(cookie)
        if user is None:
            return
        with self._lock:
            now = time.time()
            self._ended = {key: at for key, at in self._ended.items() if at > now - AGE_S}
            self._ended[user[1]] = now
            with atomic_file(self._path) as partial:
                partial.write_text(json.dumps(self._ended))

    def _names(self, cookie: str) -> tuple[str, str] | None:
        try:
            user, session = self._serializer.loads(cookie, max_age=AGE_S)
        except (BadData, ValueError, TypeError):
            return None
        return str(user), str(session)
