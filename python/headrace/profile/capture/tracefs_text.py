"""Write recorded system calls as text in strace's format."""

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import polars as pl

from headrace.kernel_trace import Format, PageHeader, Records, records, table
from headrace.profile.capture.running_state import escaped

BY_DESCRIPTOR = {
    "read": 'read({fd}, ""..., {count})',
    "readv": "readv({fd}, [...], {vlen})",
    "pread64": 'pread64({fd}, ""..., {count}, {pos})',
    "preadv": "preadv({fd}, [...], {vlen}, {pos_l})",
    "preadv2": "preadv2({fd}, [...], {vlen}, {pos_l:signed}, 0)",
    "write": 'write({fd}, ""..., {count})',
    "writev": "writev({fd}, [...], {vlen})",
    "pwrite64": 'pwrite64({fd}, ""..., {count}, {pos})',
    "pwritev": "pwritev({fd}, [...], {vlen}, {pos_l})",
    "pwritev2": "pwritev2({fd}, [...], {vlen}, {pos_l:signed}, 0)",
    "lseek": "lseek({fd}, {offset:signed}, {whence:whence})",
    "close": "close({fd})",
    "dup": "dup({fildes:fd})",
    "dup2": "dup2({oldfd:fd}, {newfd:fd})",
    "dup3": "dup3({oldfd:fd}, {newfd:fd}, {flags:cloexec})",
    "fcntl": "fcntl({fd}, {cmd:control}, {arg})",
    "fsync": "fsync({fd})",
    "fdatasync": "fdatasync({fd})",
    "sync_file_range": "sync_file_range({fd}, {offset}, {nbytes}, {flags})",
    "ftruncate": "ftruncate({fd}, {length})",
    "fallocate": "fallocate({fd}, {mode:mode}, {offset}, {len})",
    "newfstat": "fstat({fd}, 0x1)",
    "getdents64": "getdents64({fd}, 0x1, {count})",
    "flock": "flock({fd}, {cmd:lock})",
    "sendfile64": "sendfile({out_fd:fd}, {in_fd:fd}, {offset:pointer}, {count})",
    "copy_file_range": "copy_file_range({fd_in:fd}, {off_in:pointer}, {fd_out:fd},"
    " {off_out:pointer}, {len}, 0)",
    "mmap": "mmap(NULL, {len}, PROT_READ, MAP_SHARED, {fd}, {off})",
    "io_submit": "io_submit(0x1, {nr}, 0x1)",
    "io_uring_enter": "io_uring_enter({fd}, {to_submit}, {min_complete}, 0, NULL, 8)",
    "msync": "msync(0x1, {len}, MS_SYNC)",
    "newfstatat": "newfstatat({dfd:fd}, {flag:empty}, 0x1, {flag:at})",
    "statx": "statx({dfd:fd}, {flags:empty}, {flags:at}, 0, 0x1)",
    "execve": "execve(0x1, 0x1, 0x1)",
}
"""Calls with their text. `{fd}` is a descriptor; a word after a colon names a decoder below."""

BY_NAME = {
    "newstat": "stat(0x1, 0x1)",
    "newlstat": "lstat(0x1, 0x1)",
    "access": "access(0x1, F_OK)",
    "faccessat": "faccessat(AT_FDCWD, 0x1, F_OK)",
    "faccessat2": "faccessat2(AT_FDCWD, 0x1, F_OK, 0)",
    "statfs": "statfs(0x1, 0x1)",
    "truncate": "truncate(0x1, 0)",
    "unlink": "unlink(0x1)",
    "unlinkat": "unlinkat(AT_FDCWD, 0x1, 0)",
    "rename": "rename(0x1, 0x1)",
    "renameat": "renameat(AT_FDCWD, 0x1, AT_FDCWD, 0x1)",
    "renameat2": "renameat2(AT_FDCWD, 0x1, AT_FDCWD, 0x1, 0)",
    "link": "link(0x1, 0x1)",
    "linkat": "linkat(AT_FDCWD, 0x1, AT_FDCWD, 0x1, 0)",
    "symlink": "symlink(0x1, 0x1)",
    "symlinkat": "symlinkat(0x1, AT_FDCWD, 0x1)",
    "readlink": "readlink(0x1, 0x1, 0)",
    "readlinkat": "readlinkat(AT_FDCWD, 0x1, 0x1, 0)",
    "mkdir": "mkdir(0x1, 0777)",
    "mkdirat": "mkdirat(AT_FDCWD, 0x1, 0777)",
    "rmdir": "rmdir(0x1)",
    "chmod": "chmod(0x1, 0777)",
    "fchmodat": "fchmodat(AT_FDCWD, 0x1, 0777)",
    "chown": "chown(0x1, 0, 0)",
    "fchownat": "fchownat(AT_FDCWD, 0x1, 0, 0, 0)",
    "utimensat": "utimensat(AT_FDCWD, 0x1, 0x1, 0)",
}
"""Calls whose names the events do not have: the reader counts them as paths that are unreadable."""

CALLS = {**BY_DESCRIPTOR, **BY_NAME}

WINDOW = 64
"""Pages of each processor that are read at once."""
RESTARTS = {512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND"}
EMPTY_PATH = 0x1000
"""AT_EMPTY_PATH (Linux, include/uapi/linux/fcntl.h)."""


class Open(NamedTuple):
    """A file that was opened. Times are CLOCK_MONOTONIC, in ns."""

    thread: int
    entered_ns: int
    left_ns: int
    result: int
    flags: int
    name: str | None
    """The name behind the descriptor; None if it was closed already."""
    resolved_ns: int
    """When the name was read: the descriptor may have been another file's by then."""


@dataclass(frozen=True)
class Source:
    """A recording."""

    pages: Sequence[Path]
    """Files with the pages of each processor, each after its length in four bytes."""
    header: PageHeader
    formats: Sequence[Format]
    opens: Sequence[Open]
    inherited: Mapping[int, str]
    """Names of the descriptors that were open at the start."""
    epoch_ns: int
    """Time since the epoch minus CLOCK_MONOTONIC, in ns."""


def write_text(source: Source, out: IO[str]) -> int:
    """Write a recording, and return the number of opens whose name was not found."""
    writer = _Writer(source, out)
    for events, until_ns in _windows(source):
        writer.add(events, until_ns)
    writer.finish()
    return writer.unresolved


class _Writer:
    def __init__(self, source: Source, out: IO[str]) -> None:
        self._source = source
        self._out = out
        self._entered: dict[str, pl.DataFrame] = {}
        self._lines = [pl.DataFrame(schema=LINES)]
        self._opens = sorted(source.opens, key=lambda each: each.left_ns)
        self._next_open = 0
        self._closes = np.zeros((0, 2), dtype=np.int64)
        self._replaced_ns: dict[int, int] = {}
        for opened in reversed(self._opens):
            if opened.result in source.inherited:
                self._replaced_ns[opened.result] = opened.entered_ns
        """When each inherited descriptor was first closed or replaced."""
        self.unresolved = 0

    def add(self, events: Mapping[str, pl.DataFrame], until_ns: int) -> None:
        """Take in the events up to a time, and write the lines that are complete."""
        calls = {name: pairs for name in CALLS if (pairs := self._pairs(name, events)) is not None}
        self._note_closes(calls)
        for name, pairs in calls.items():
            self._lines.append(self._text(CALLS[name], pairs))
        if (tasks := events.get("task_newtask")) is not None:
            self._lines.append(self._text_of_tasks(tasks))
        self._write(until_ns - UNSORTED_NS)

    def finish(self) -> None:
        """Write all that is left."""
        self._write(np.iinfo(np.int64).max)

    def _pairs(self, call: str, events: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
        """Calls that have ended, with `entered_ns`, `left_ns`, `ret` and their arguments."""
        before, now = self._entered.get(call), events.get(f"sys_enter_{call}")
        entered = [value for value in (before, now) if value is not None]
        if not entered:
            return None
        enters = pl.concat(entered).sort("time_ns")
        left = events.get(f"sys_exit_{call}")
        if left is None:
            self._entered[call] = enters
            return None
        exits = left.select("thread", pl.col("time_ns").alias("left_ns"), "ret").sort("left_ns")
        enters = enters.rename({"time_ns": "entered_ns"})
        rows = exits.join_asof(
            enters, left_on="left_ns", right_on="entered_ns", by="thread", check_sortedness=False
        ).drop_nulls("entered_ns")
        rows = rows.unique(["thread", "entered_ns"], keep="first", maintain_order=True)
        waiting = enters.join(rows.select("thread", "entered_ns"), ["thread", "entered_ns"], "anti")
        # An enter without an exit is the last of its thread, unless events were lost.
        waiting = waiting.unique("thread", keep="last", maintain_order=True)
        self._entered[call] = waiting.rename({"entered_ns": "time_ns"})
        return rows if rows.height else None

    def _note_closes(self, calls: Mapping[str, pl.DataFrame]) -> None:
        parts = [
            calls[call].select(pl.col("entered_ns").cast(pl.Int64), pl.col(field).cast(pl.Int64))
            for call, field in (("close", "fd"), ("dup2", "newfd"), ("dup3", "newfd"))
            if call in calls
        ]
        new = [self._closes, *(part.to_numpy() for part in parts)]
        closes = np.concatenate(new)
        self._closes = closes[np.argsort(closes[:, 0], kind="stable")]
        for descriptor in self._source.inherited:
            times = self._closes[self._closes[:, 1] == descriptor, 0]
            if len(times):
                first = self._replaced_ns.get(descriptor, np.iinfo(np.int64).max)
                self._replaced_ns[descriptor] = min(first, int(times[0]))

    def _text(self, template: str, calls: pl.DataFrame) -> pl.DataFrame:
        text = self._arguments(template, calls)
        return _lines(self._source.epoch_ns, calls, text)

    def _arguments(self, template: str, calls: pl.DataFrame) -> pl.Series:
        parts: list[pl.Expr] = []
        for literal, field, decoder in _parsed(template):
            parts.append(pl.lit(literal))
            if field:
                parts.append(pl.lit(self._decoded(calls, field, decoder)))
        return calls.with_columns(pl.concat_str(parts).alias("text"))["text"]

    def _decoded(self, calls: pl.DataFrame, field: str, decoder: str) -> pl.Series:
        values = calls[field]
        if decoder == "fd" or field == "fd":
            return self._descriptors(calls, values)
        if decoder == "":
            return values.cast(pl.String)
        signed = values.to_numpy().astype(np.int64)
        if decoder == "signed":
            return pl.Series(signed).cast(pl.String)
        distinct = np.unique(signed)
        texts = [DECODERS[decoder](value) for value in distinct.tolist()]
        return pl.Series(texts, dtype=pl.String).gather(np.searchsorted(distinct, signed))

    def _descriptors(self, calls: pl.DataFrame, values: pl.Series) -> pl.Series:
        numbers = values.to_numpy().astype(np.int32)
        distinct = np.unique(numbers)
        plain = ["AT_FDCWD" if number == AT_FDCWD else str(number) for number in distinct.tolist()]
        named = [
            f"{n}<{escaped(self._source.inherited[n])}>" if n in self._source.inherited else ""
            for n in distinct.tolist()
        ]
        until = np.array(
            [
                self._replaced_ns.get(number, np.iinfo(np.int64).max) if name else NEVER
                for number, name in zip(distinct.tolist(), named, strict=True)
            ]
        )
        which = np.searchsorted(distinct, numbers)
        has_name = calls["entered_ns"].to_numpy() <= until[which]
        choices = pl.Series([*plain, *named], dtype=pl.String)
        return choices.gather(np.where(has_name, which + len(distinct), which))

    def _text_of_tasks(self, tasks: pl.DataFrame) -> pl.DataFrame:
        distinct = {value: _clone_flags(value) for value in tasks["clone_flags"].unique().to_list()}
        flags = tasks["clone_flags"].replace_strict(distinct, return_dtype=pl.String)
        text = pl.DataFrame({"flags": flags}).select(
            pl.format("clone(child_stack=NULL, flags={})", "flags").alias("text")
        )["text"]
        calls = tasks.select(
            "thread",
            pl.col("time_ns").alias("entered_ns"),
            pl.col("time_ns").alias("left_ns"),
            pl.col("pid").cast(pl.Int64).alias("ret"),
        )
        return _lines(self._source.epoch_ns, calls, text)

    def _write(self, before_ns: int) -> None:
        """Write the lines of calls that ended before a time, by their starts."""
        due = []
        while self._next_open < len(self._opens):
            opened = self._opens[self._next_open]
            if opened.left_ns >= before_ns:
                break
            due.append(opened)
            self._next_open += 1
        if due:
            self._lines.append(self._text_of_opens(due))
        lines = pl.concat(self._lines).sort("entered_ns", maintain_order=True)
        ready = lines.filter(pl.col("entered_ns") < before_ns)
        self._lines = [lines.filter(pl.col("entered_ns") >= before_ns)]
        kept_ns = before_ns - KEPT_CLOSES_NS if before_ns < np.iinfo(np.int64).max else 0
        self._closes = self._closes[self._closes[:, 0] >= kept_ns]
        for text in ready["line"]:
            self._out.write(text)

    def _text_of_opens(self, opens: Sequence[Open]) -> pl.DataFrame:
        texts = [f"openat(AT_FDCWD, {self._name(one)}, {_open_flags(one.flags)})" for one in opens]
        calls = pl.DataFrame(
            {
                "thread": [each.thread for each in opens],
                "entered_ns": [each.entered_ns for each in opens],
                "left_ns": [each.left_ns for each in opens],
                "ret": [each.result for each in opens],
            }
        )
        return _lines(self._source.epoch_ns, calls, pl.Series(texts, dtype=pl.String))

    def _name(self, opened: Open) -> str:
        """Return the quoted name; an address for a file that was not opened."""
        if opened.result < 0:
            return "0x1"
        if opened.name is not None:
            low, high = np.searchsorted(
                self._closes[:, 0], [opened.left_ns, opened.resolved_ns], side="left"
            )
            if not np.any(self._closes[low:high, 1] == opened.result):
                return f'"{escaped(opened.name.removesuffix(" (deleted)"))}"'
        self.unresolved += 1
        return f'"/unresolved/{opened.thread}-{self.unresolved}"'


LINES = pl.Schema({"entered_ns": pl.Int64, "line": pl.String})
UNSORTED_NS = 50_000_000
"""A call is written this long after its end, so that slower threads can come before it."""
KEPT_CLOSES_NS = 2_000_000_000
AT_FDCWD = -100
NEVER = np.iinfo(np.int64).min
FIELD = re.compile(r"\{(\w+)(?::(\w+))?\}")


def _parsed(template: str) -> Iterator[tuple[str, str, str]]:
    """Literal text, then a field and its decoder, until both are empty."""
    at = 0
    for match in FIELD.finditer(template):
        yield template[at : match.start()], match[1], match[2] or ""
        at = match.end()
    yield template[at:], "", ""


def _lines(epoch_ns: int, calls: pl.DataFrame, text: pl.Series) -> pl.DataFrame:
    distinct = calls["ret"].filter(calls["ret"] < 0).unique().to_list()
    failed = {number: _error(-number) for number in distinct}
    results = calls["ret"].cast(pl.Int64).cast(pl.String)
    if failed:
        old = [str(number) for number in failed]
        results = results.replace(old, list(failed.values()))
    taken = calls["left_ns"] - calls["entered_ns"]
    return pl.DataFrame(
        {
            "entered_ns": calls["entered_ns"],
            "thread": calls["thread"],
            "at": _seconds(calls["entered_ns"] + epoch_ns),
            "text": text,
            "result": results,
            "taken": _seconds(taken),
        }
    ).select(
        pl.col("entered_ns").cast(pl.Int64),
        pl.format("{} {} {} = {} <{}>\n", "thread", "at", "text", "result", "taken").alias("line"),
    )


def _seconds(nanoseconds: pl.Series) -> pl.Series:
    parts = pl.DataFrame({"ns": nanoseconds.cast(pl.Int64)}).select(
        pl.format(
            "{}.{}",
            pl.col("ns") // 1_000_000_000,
            (pl.col("ns") % 1_000_000_000).cast(pl.String).str.zfill(9),
        ).alias("text")
    )
    return parts["text"]


def _error(number: int) -> str:
    if number in RESTARTS:
        return f"? {RESTARTS[number]} (To be restarted)"
    return f"-1 {errno.errorcode.get(number, 'EINVAL')} ({os.strerror(number)})"


ACCESS = {os.O_RDONLY: "O_RDONLY", os.O_WRONLY: "O_WRONLY", os.O_RDWR: "O_RDWR"}
OPEN_FLAGS = {
    getattr(os, name): name
    for name in (
        *("O_CREAT", "O_EXCL", "O_TRUNC", "O_APPEND", "O_NONBLOCK", "O_DSYNC", "O_DIRECT"),
        *("O_DIRECTORY", "O_NOFOLLOW", "O_NOATIME", "O_CLOEXEC", "O_PATH"),
    )
}
CLONE_FLAGS = {
    0x100: "CLONE_VM",
    0x200: "CLONE_FS",
    0x400: "CLONE_FILES",
    0x4000: "CLONE_VFORK",
    0x10000: "CLONE_THREAD",
}
"""Flags of clone that matter to descriptors (Linux, include/uapi/linux/sched.h)."""


def _open_flags(bits: int) -> str:
    words = [ACCESS.get(bits & os.O_ACCMODE, "O_RDWR")]
    return "|".join(words + [name for bit, name in OPEN_FLAGS.items() if bits & bit == bit])


def _clone_flags(bits: int) -> str:
    return "|".join([name for bit, name in CLONE_FLAGS.items() if bits & bit] + ["SIGCHLD"])


CONTROLS = {
    0: "F_DUPFD",
    1: "F_GETFD",
    2: "F_SETFD",
    5: "F_GETLK",
    6: "F_SETLK",
    7: "F_SETLKW",
    1030: "F_DUPFD_CLOEXEC",
}

DECODERS: dict[str, Callable[[int], str]] = {
    "whence": lambda value: {0: "SEEK_SET", 1: "SEEK_CUR", 2: "SEEK_END", 3: "SEEK_DATA"}.get(
        value, "SEEK_HOLE"
    ),
    "cloexec": lambda value: "O_CLOEXEC" if value & os.O_CLOEXEC else "0",
    "control": lambda value: CONTROLS.get(value, "F_GETFL"),
    "mode": lambda value: "FALLOC_FL_KEEP_SIZE" if value & 1 else "0",
    "lock": lambda value: {1: "LOCK_SH", 2: "LOCK_EX", 8: "LOCK_UN"}.get(value & 11, "LOCK_EX"),
    "pointer": lambda value: "NULL" if value == 0 else "0x1",
    "empty": lambda value: '""' if value & EMPTY_PATH else "0x1",
    "at": lambda value: "AT_EMPTY_PATH" if value & EMPTY_PATH else "0",
}


def _windows(source: Source) -> Iterator[tuple[dict[str, pl.DataFrame], int]]:
    """Events by name, window after window, with the time up to which all are there."""
    files = [path.open("rb") for path in source.pages]
    waiting: dict[str, pl.DataFrame] = {}
    try:
        ended = [False] * len(files)
        while not all(ended):
            reached = []
            parts = []
            for number, file in enumerate(files):
                if ended[number]:
                    continue
                pages = _pages(file)
                ended[number] = len(pages) < WINDOW
                parsed = records(pages, source.header)
                parts.append(parsed)
                if not ended[number] and len(parsed.times):
                    reached.append(int(parsed.times[-1]))
            until = min(reached, default=np.iinfo(np.int64).max - UNSORTED_NS)
            for name, new in _tables(source.formats, parts).items():
                old = waiting.get(name)
                waiting[name] = new if old is None else pl.concat([old, new]).sort("time_ns")
            yield (
                {
                    name: part
                    for name, events in waiting.items()
                    if (part := events.filter(pl.col("time_ns") <= until)).height
                },
                until,
            )
            waiting = {
                name: part
                for name, events in waiting.items()
                if (part := events.filter(pl.col("time_ns") > until)).height
            }
    finally:
        for file in files:
            file.close()


def _pages(file: IO[bytes]) -> list[bytes]:
    pages: list[bytes] = []
    while len(pages) < WINDOW and len(size := file.read(4)) == 4:
        pages.append(file.read(int.from_bytes(size, sys.byteorder)))
    return pages


def _tables(formats: Sequence[Format], parts: Sequence[Records]) -> dict[str, pl.DataFrame]:
    """Tables of the events that are there."""
    there: set[int] = set()
    for part in parts:
        kinds = np.stack([part.data[part.offsets], part.data[part.offsets + 1]], axis=1)
        there |= set(np.unique(kinds.copy().view(np.uint16)).tolist())
    return {entry.name: table(entry, parts) for entry in formats if entry.number in there}
