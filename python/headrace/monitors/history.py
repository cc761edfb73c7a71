"""The history of all hosts: an SQLite file that is thinned out as it grows.

Each level has means, smallest and largest values over intervals of its own length, and drops those
older than its age. A row has all figures of a host in an interval. A figure's mean is weighted with
the time in which it was known, so that means of means are the means of the samples.

A sample belongs to the interval in which it ends. Each call of `append` is one transaction:
after a crash of the process, what it has returned from is there.
"""

import contextlib
import json
import math
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from headrace.monitors.host_sampler import Sample

Array = npt.NDArray[np.float64]
FORMAT = 1
"""Version of the file, as its `user_version`."""
HOUR, DAY = 3600.0, 86400.0


class Level(NamedTuple):
    """A resolution of the history."""

    width_s: float
    """Length of the intervals; 0 for the samples themselves."""
    age_s: float
    """Age at which rows are dropped."""


LEVELS = (Level(0, HOUR), Level(10, DAY), Level(60, 30 * DAY), Level(900, 30 * DAY))
"""Each from the one before. The last serves charts of many days."""
MOST_BYTES = 2 << 30
"""Size of the file. At it, the oldest tenth of the finer levels is dropped."""
MOST_POINTS = 2000
"""Points of a series that `level_for` aims at."""
MOST_EVENTS = 10_000
EXPIRE_S = 60.0
"""Time between two removals of old rows."""
SET_BACK_S = 60.0
"""A row that is in the future by more: this host's clock was set back."""
MEAN, SMALLEST, LARGEST, KNOWN = range(4)
SCHEMA = f"""
PRAGMA user_version = {FORMAT};
CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE layouts (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE samples (
    host INTEGER NOT NULL, level INTEGER NOT NULL, time REAL NOT NULL, seconds REAL NOT NULL,
    layout INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE UNIQUE INDEX by_time ON samples (host, level, time);
CREATE INDEX by_layout ON samples (layout);
CREATE TABLE events (
    id INTEGER PRIMARY KEY, host TEXT NOT NULL, time REAL NOT NULL, monitor TEXT NOT NULL,
    device TEXT NOT NULL, state TEXT NOT NULL, before TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX events_by_time ON events (time);
"""


class Event(msgspec.Struct, frozen=True):
    """A change of a state."""

    host: str
    time: float
    monitor: str
    device: str
    state: str
    before: str
    text: str


class Row(NamedTuple):
    """An interval of a level: its start, or the end of a sample, its length and its figures."""

    time: float
    seconds: float
    names: tuple[str, ...]
    values: Array
    """Means, smallest, largest and seconds known: four rows, a column for each name."""


class Series(NamedTuple):
    """A figure over time. Unknown values are NaN."""

    time: Array
    mean: Array
    smallest: Array
    largest: Array


class History:
    """The history in a file. All methods may be called from any thread."""

    def __init__(
        self, path: Path, *, most_bytes: int = MOST_BYTES, levels: Sequence[Level] = LEVELS
    ) -> None:
        """Open or create the file.

        Raises:
            ValueError: if it is no history or of a newer version.
            OSError: if it cannot be opened.
        """
        self._path, self._most_bytes, self._levels = path, most_bytes, tuple(levels)
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._writer = self._open()
        except sqlite3.OperationalError as error:
            raise OSError(f"{path}: {error}") from None
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{path}: expected a history of monitors: {error}") from None
        self._layouts: dict[tuple[str, ...], int] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self._hosts: dict[str, int] = {}
        self._newest: dict[str, float] = {}
        self._expired = 0.0

    def _open(self) -> sqlite3.Connection:
        writer = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        self._path.chmod(0o600)
        (version,) = writer.execute("PRAGMA user_version").fetchone()
        if version > FORMAT:
            raise ValueError(f"{self._path}: the history is from a newer version of Headrace")
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA synchronous = NORMAL")
        writer.execute("PRAGMA journal_size_limit = 16777216")
        if version == 0:
            writer.executescript("BEGIN;" + SCHEMA + "COMMIT;")
        return writer

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._writer.close()

    # --- Writing --------------------------------------------------------------------------------

    def append(
        self, host: str, samples: Sequence[Sample], now: float | None = None
    ) -> list[Sample]:
        """Add samples of a host in the order of their times, and thin the history out.

        Samples that are not newer than the newest one by half their length are left out. Rows of
        the future are dropped: this host's clock was set back. Return the samples that were added.

        Raises sqlite3.Error if they cannot be written.
        """
        now = time.time() if now is None else now
        with self._lock, self._transaction() as sql:
            number = self._host(sql, host)
            newest = self._newest_of(sql, host, number)
            if newest > now + SET_BACK_S:
                # Rows of the future would hide all that comes.
                sql.execute("DELETE FROM samples WHERE host = ? AND time > ?", (number, now))
                del self._newest[host]
                newest = self._newest_of(sql, host, number)
            added = []
            for it in samples:
                # One that was read twice may differ a little in its time.
                if newest < it.end - 0.5 * it.seconds < it.end < math.inf:
                    newest = it.end
                    added.append(it)
            for it in added:
                names = tuple(it.figures)
                values = np.fromiter(it.figures.values(), np.float32, len(names))
                self._insert(sql, number, 0, it.end, it.seconds, names, values.tobytes())
            if added:
                self._thin(sql, number, added[0].end, newest)
            self._newest[host] = newest
            if now >= self._expired + EXPIRE_S:
                self._expired = now
                self._expire(sql, now)
        return added

    def add_event(self, event: Event) -> None:
        """Add an event. Raises sqlite3.Error if it cannot be written."""
        with self._lock, self._transaction() as sql:
            sql.execute(
                "INSERT INTO events (host, time, monitor, device, state, before, text)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                msgspec.structs.astuple(event),
            )
            sql.execute(
                "DELETE FROM events WHERE id <= (SELECT MAX(id) FROM events) - ?", (MOST_EVENTS,)
            )

    def remove(self, host: str) -> None:
        """Remove a host with its rows and events."""
        with self._lock, self._transaction() as sql:
            number = self._host(sql, host)
            sql.execute("DELETE FROM samples WHERE host = ?", (number,))
            sql.execute("DELETE FROM hosts WHERE id = ?", (number,))
            sql.execute("DELETE FROM events WHERE host = ?", (host,))
            self._hosts.pop(host, None)
            self._newest.pop(host, None)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            yield self._writer
        except BaseException:
            self._writer.execute("ROLLBACK")
            # They may name rows that were not written.
            for cache in (self._layouts, self._names, self._hosts, self._newest):
                cache.clear()
            raise
        self._writer.execute("COMMIT")

    def _host(self, sql: sqlite3.Connection, name: str) -> int:
        if name not in self._hosts:
            sql.execute("INSERT OR IGNORE INTO hosts (name) VALUES (?)", (name,))
            (number,) = sql.execute("SELECT id FROM hosts WHERE name = ?", (name,)).fetchone()
            self._hosts[name] = number
        return self._hosts[name]

    def _newest_of(self, sql: sqlite3.Connection, host: str, number: int) -> float:
        if host not in self._newest:
            (newest,) = sql.execute(
                "SELECT MAX(time) FROM samples WHERE host = ? AND level = 0", (number,)
            ).fetchone()
            self._newest[host] = -math.inf if newest is None else newest
        return self._newest[host]

    def _insert(
        self,
        sql: sqlite3.Connection,
        host: int,
        level: int,
        at: float,
        seconds: float,
        names: tuple[str, ...],
        data: bytes,
    ) -> None:
        sql.execute(
            "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?, ?)",
            (host, level, at, seconds, self._layout(sql, names), data),
        )

    def _layout(self, sql: sqlite3.Connection, names: tuple[str, ...]) -> int:
        if names not in self._layouts:
            text = json.dumps(names)
            sql.execute("INSERT OR IGNORE INTO layouts (names) VALUES (?)", (text,))
            (number,) = sql.execute("SELECT id FROM layouts WHERE names = ?", (text,)).fetchone()
            if len(self._layouts) > 1000:
                self._layouts.clear()
            self._layouts[names] = number
        return self._layouts[names]

    def _thin(self, sql: sqlite3.Connection, host: int, oldest: float, newest: float) -> None:
        """Make the intervals of all levels that have ended and have rows from `oldest` on."""
        for level in range(1, len(self._levels)):
            width = self._levels[level].width_s
            (made,) = sql.execute(
                "SELECT MAX(time) FROM samples WHERE host = ? AND level = ?", (host, level)
            ).fetchone()
            begin = _start(oldest, width)
            # One that was not made before the last restart, or the one after the last.
            begin = min(begin, -math.inf if made is None else made + width)
            end = _start(newest, width)
            if begin < end:
                self._make(sql, host, level, begin, end)

    def _make(
        self, sql: sqlite3.Connection, host: int, level: int, begin: float, end: float
    ) -> None:
        """Make the intervals of a level that start within [begin, end) from the level below."""
        width = self._levels[level].width_s
        group: list[Row] = []
        for row in self._rows(sql, host, level - 1, begin, end):
            if group and _start(group[0].time, width) != _start(row.time, width):
                self._combine(sql, host, level, group)
                group = []
            group.append(row)
        if group:
            self._combine(sql, host, level, group)

    def _combine(self, sql: sqlite3.Connection, host: int, level: int, rows: list[Row]) -> None:
        names, values = _combined(rows)
        start = _start(rows[0].time, self._levels[level].width_s)
        data = zlib.compress(values.astype(np.float32).tobytes(), 1)
        self._insert(sql, host, level, start, sum(it.seconds for it in rows), names, data)

    def _expire(self, sql: sqlite3.Connection, now: float) -> None:
        """Drop old rows. Intervals that they belong to are made first."""
        for (host,) in sql.execute("SELECT id FROM hosts").fetchall():
            for level, (_, age) in enumerate(self._levels):
                limit = now - age
                if level + 1 < len(self._levels):
                    width = self._levels[level + 1].width_s
                    limit = _start(limit, width)
                    (made,) = sql.execute(
                        "SELECT MAX(time) FROM samples WHERE host = ? AND level = ?",
                        (host, level + 1),
                    ).fetchone()
                    begin = -math.inf if made is None else made + width
                    if begin < limit:
                        self._make(sql, host, level + 1, begin, limit)
                sql.execute(
                    "DELETE FROM samples WHERE host = ? AND level = ? AND time < ?",
                    (host, level, limit),
                )
        oldest = now - max(it.age_s for it in self._levels)
        sql.execute("DELETE FROM events WHERE time < ?", (oldest,))
        for table, column in (("hosts", "host"), ("layouts", "layout")):
            sql.execute(
                f"DELETE FROM {table} WHERE NOT EXISTS"
                f" (SELECT 1 FROM samples WHERE samples.{column} = {table}.id)"
            )
        self._hosts.clear()
        self._layouts.clear()
        self._names.clear()
        self._shrink(sql)

    def _shrink(self, sql: sqlite3.Connection) -> None:
        """Drop the oldest rows of the finer levels if the file is too large."""
        if self.used_bytes(sql) <= self._most_bytes:
            return
        for level in range(len(self._levels) - 1):
            oldest, newest = sql.execute(
                "SELECT MIN(time), MAX(time) FROM samples WHERE level = ?", (level,)
            ).fetchone()
            if oldest is not None:
                limit = oldest + 0.1 * (newest - oldest)
                sql.execute("DELETE FROM samples WHERE level = ? AND time < ?", (level, limit))

    @staticmethod
    def used_bytes(sql: sqlite3.Connection) -> int:
        """Return the bytes of the pages that are in use."""
        count, free, size = (
            sql.execute(f"PRAGMA {it}").fetchone()[0]
            for it in ("page_count", "freelist_count", "page_size")
        )
        return int((count - free) * size)

    # --- Reading --------------------------------------------------------------------------------

    def hosts(self) -> list[str]:
        """Return the names of all hosts."""
        with self._reader() as sql:
            return [it for (it,) in sql.execute("SELECT name FROM hosts ORDER BY name")]

    def newest(self, host: str) -> float | None:
        """Return the time of the newest sample; None if there is none."""
        with self._reader() as sql:
            (found,) = sql.execute(
                "SELECT MAX(time) FROM samples WHERE level = 0 AND host ="
                " (SELECT id FROM hosts WHERE name = ?)",
                (host,),
            ).fetchone()
        return None if found is None else float(found)

    def level_for(self, begin: float, end: float, now: float | None = None) -> int:
        """Return the finest level that still has a time and gives a moderate number of points."""
        now = time.time() if now is None else now
        for level, (width, age) in enumerate(self._levels):
            points = (end - begin) / (width or 1.0)
            if begin >= now - age and points <= MOST_POINTS:
                return level
        return len(self._levels) - 1

    def rows(self, host: str, begin: float, end: float, level: int) -> list[Row]:
        """Return the rows of a level within [begin, end)."""
        with self._reader() as sql:
            number = sql.execute("SELECT id FROM hosts WHERE name = ?", (host,)).fetchone()
            if number is None:
                return []
            return list(self._rows(sql, number[0], level, begin, end, {}))

    def series(
        self, host: str, names: Sequence[str] | None, begin: float, end: float, level: int
    ) -> dict[str, Series]:
        """Return figures over time, by default all, from a level within [begin, end)."""
        return series_of(self.rows(host, begin, end, level), names)

    def events(
        self, host: str | None = None, begin: float = 0.0, end: float = math.inf, most: int = 100
    ) -> list[Event]:
        """Return events, the newest first."""
        with self._reader() as sql:
            found = sql.execute(
                "SELECT host, time, monitor, device, state, before, text FROM events"
                " WHERE time >= ? AND time < ? AND (? IS NULL OR host = ?)"
                " ORDER BY time DESC, id DESC LIMIT ?",
                (begin, end, host, host, most),
            )
            return [Event(*it) for it in found]

    @contextlib.contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        sql = sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)
        try:
            yield sql
        finally:
            sql.close()

    def _rows(
        self,
        sql: sqlite3.Connection,
        host: int,
        level: int,
        begin: float,
        end: float,
        known: dict[int, tuple[str, ...]] | None = None,
    ) -> Iterator[Row]:
        layouts = self._names if known is None else known
        found = sql.execute(
            "SELECT time, seconds, layout, data FROM samples"
            " WHERE host = ? AND level = ? AND time >= ? AND time < ? ORDER BY time",
            (host, level, max(begin, -1e300), min(end, 1e300)),
        ).fetchall()
        for at, seconds, layout, data in found:
            if layout not in layouts:
                (text,) = sql.execute(
                    "SELECT names FROM layouts WHERE id = ?", (layout,)
                ).fetchone()
                layouts[layout] = tuple(json.loads(text))
            yield Row(at, seconds, layouts[layout], _values(level, seconds, data))


def _start(at: float, width: float) -> float:
    """Return the start of the interval of a time."""
    return math.floor(at / width) * width


def _values(level: int, seconds: float, data: bytes) -> Array:
    if level == 0:
        values = np.frombuffer(data, np.float32).astype(np.float64)
        known = np.where(np.isnan(values), 0.0, seconds)
        return np.stack((values, values, values, known))
    packed: Array = np.frombuffer(zlib.decompress(data), np.float32).astype(np.float64)
    return packed.reshape(4, -1)


def _combined(rows: Sequence[Row]) -> tuple[tuple[str, ...], Array]:
    """Return the mean, smallest and largest values and known seconds over rows."""
    names = tuple(dict.fromkeys(name for it in rows for name in it.names))
    place = {name: at for at, name in enumerate(names)}
    table = np.full((len(rows), 4, len(names)), np.nan)
    table[:, KNOWN] = 0.0
    for at, it in enumerate(rows):
        table[at][:, [place[name] for name in it.names]] = it.values
    known = table[:, KNOWN]
    total = known.sum(axis=0)
    is_known = known > 0
    weighted = np.where(is_known, table[:, MEAN] * known, 0.0).sum(axis=0)
    unknown = total == 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(unknown, np.nan, weighted / total)
    smallest = np.where(is_known, table[:, SMALLEST], np.inf).min(axis=0)
    largest = np.where(is_known, table[:, LARGEST], -np.inf).max(axis=0)
    smallest[unknown] = largest[unknown] = np.nan
    # Rounding must not move a mean out of its range.
    return names, np.stack((np.clip(mean, smallest, largest), smallest, largest, total))


def series_of(rows: Sequence[Row], names: Sequence[str] | None = None) -> dict[str, Series]:
    """Return figures of rows over time, by default all."""
    if names is None:
        names = tuple(dict.fromkeys(name for it in rows for name in it.names))
    times = np.array([it.time for it in rows])
    places: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}
    values = np.full((3, len(rows), len(names)), np.nan)
    for at, row in enumerate(rows):
        if row.names not in places:
            there = {name: number for number, name in enumerate(row.names)}
            found = [to for to, name in enumerate(names) if name in there]
            places[row.names] = (found, [there[names[to]] for to in found])
        to, source = places[row.names]
        values[:, at, to] = row.values[:3, source]
    return {
        name: Series(times, *(values[it, :, at] for it in range(3)))
        for at, name in enumerate(names)
    }
