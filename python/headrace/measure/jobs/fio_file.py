"""Reader of fio's job files (fio(1), version 3).

Every option is supported, supported differently with a note, or refused with its line; none is
ignored.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from headrace.measure.jobs.plan import IO_URING, POSIX, FileLayout, Job, Plan

LARGEST = 1 << 20
"""Bytes of a job file: more are no job file."""
MOST_JOBS = 1000
MOST_PROCESSES = 4096
GLOBAL = "global"
PATTERNS = {
    "read": (1.0, False),
    "write": (0.0, False),
    "randread": (1.0, True),
    "randwrite": (0.0, True),
    "rw": (None, False),
    "readwrite": (None, False),
    "randrw": (None, True),
}
"""Share of reads (None if `rwmixread` gives it), and whether offsets are random."""
ENGINES = {"sync": POSIX, "psync": POSIX, "libaio": IO_URING, "io_uring": IO_URING}
SIZES = {"": 0, "b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4}
"""Powers of 1024: fio's `kb_base` is 1024 unless a job file sets it."""
TIMES = {"us": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
}
"""Options with two names."""
DEFAULT_BLOCK = 4096
DEFAULT_MIX = 50

T = TypeVar("T")


@dataclass(frozen=True)
class _Option:
    """An option where it was written."""

    name: str
    value: str | None
    line: int


@dataclass
class _Section:
    """A job, or options that apply to all later jobs."""

    name: str
    line: int
    options: dict[str, _Option] = field(default_factory=dict)


class _Reader:
    """State of the parser: the file, its notes and its errors."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.notes: list[str] = []

    def wrong(self, line: int, message: str) -> ValueError:
        return ValueError(f"{self.file}:{line}: {message}")

    def note(self, option: _Option, message: str) -> None:
        text = f"{self.file}:{option.line}: {option.name}: {message}"
        if text not in self.notes:
            self.notes.append(text)


def read_fio_file(
    file: Path, *, device_size: int | None = None, stops: float | None = None
) -> Plan:
    """Read a fio job file for a directory, or for a device of a size.

    `stops` replaces each job's `runtime`, with `time_based`.

    Raises ValueError, which names the line, for unsupported options; OSError if the file cannot be
    read.
    """
    with file.open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"{file}: more than {LARGEST:,} bytes: expected a fio job file")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(f"{file}:{line}: expected a fio job file in UTF-8") from None
    return parse(text, file, device_size=device_size, stops=stops)


def parse(
    text: str, file: Path, *, device_size: int | None = None, stops: float | None = None
) -> Plan:
    """Parse the text of a fio job file as `read_fio_file` does."""
    reader = _Reader(file)
    sections = _sections(reader, text)
    if not sections:
        raise ValueError(f"{file}: no jobs: expected a section such as [random-read]")
    parser = _Made(reader, device_size, stops)
    for section in sections:
        parser.add(section)
    return Plan(
        name=file.stem,
        description=f"the jobs of a fio job file, {file.name}",
        stages=parser.stages,
        files=[] if device_size is not None else parser.layouts(),
        job_file=text,
        notes=tuple(reader.notes),
    )


def _sections(reader: _Reader, text: str) -> list[_Section]:
    """Return the jobs, each with the options of [global] before it. Raises ValueError for other
    lines."""
    common: dict[str, _Option] = {}
    sections: list[_Section] = []
    into: dict[str, _Option] | None = None
    # splitlines would accept more line ends than fio does.
    for number, raw in enumerate(text.split("\n"), 1):
        # fio ends a line at the first of these characters, wherever it is.
        line = re.split("[;#]", raw, maxsplit=1)[0].strip()
        if not line:
            continue
        if line.startswith("["):
            name = line[1:-1].strip()
            if not line.endswith("]") or not name:
                raise reader.wrong(number, f'"{line}": expected a section such as [random-read]')
            if name == GLOBAL:
                into = common
                continue
            if len(sections) >= MOST_JOBS:
                raise reader.wrong(number, f"more than {MOST_JOBS} jobs: expected fewer")
            sections.append(_Section(name, number, dict(common)))
            into = sections[-1].options
            continue
        if into is None:
            raise reader.wrong(
                number, f'"{line}": expected the option after [global] or a job\'s [name]'
            )
        option = _option(reader, line, number)
        into[option.name] = option
    return sections


def _option(reader: _Reader, line: str, number: int) -> _Option:
    key, equals, value = line.partition("=")
    key, value = key.strip(), value.strip()
    name = ALIASES.get(key, key)
    if name not in KNOWN:
        known = ", ".join(sorted(KNOWN))
        raise reader.wrong(
            number, f'"{key}": this option of fio is not supported: remove it; supported: {known}'
        )
    if "$" in value:
        raise reader.wrong(number, f"{line}: variables are not supported: write the value out")
    return _Option(name, value if equals else None, number)


class _Made:
    """Jobs and files as they are made out of sections."""

    def __init__(self, reader: _Reader, device_size: int | None, stops: float | None) -> None:
        self.reader = reader
        self.device_size = device_size
        self.stops = stops
        self.stages: list[list[Job]] = []
        self._numbers: dict[str, int] = {}
        self._files: dict[int, tuple[int, bool]] = {}
        self._next = 0
        self._names: set[str] = set()
        self._processes = 0

    def add(self, section: _Section) -> None:
        """Make a job of a section, in the stage before it unless there is a stone wall."""
        values = _Values(self.reader, section)
        job = self._job(section, values)
        waits = values.flag("stonewall")
        if waits or not self.stages:
            self.stages.append([])
        self.stages[-1].append(job)
        for number in job.files():
            size, written = self._files.get(number, (0, False))
            self._files[number] = (max(size, job.bytes), written or job.reads)

    def layouts(self) -> list[FileLayout]:
        """Files that must exist before the first job; those that are read have data."""
        return [
            FileLayout(number, size, written=written, least=size)
            for number, (size, written) in sorted(self._files.items())
        ]

    def _job(self, section: _Section, values: "_Values") -> Job:
        reader = self.reader
        share, random = values.pattern()
        block = values.get("bs", _size, DEFAULT_BLOCK)
        size = values.get("size", _size, None)
        if size is None and self.device_size is None:
            raise reader.wrong(section.line, f"[{section.name}]: expected size=, such as size=1g")
        size = size or self.device_size or 0
        if size < block:
            raise reader.wrong(
                values.line("size"), f"size={size}: expected at least one block of {block} bytes"
            )
        processes = values.get("numjobs", _count(1, MOST_PROCESSES), 1)
        self._processes += processes
        if self._processes > MOST_PROCESSES:
            raise reader.wrong(
                values.line("numjobs"), f"more than {MOST_PROCESSES} processes in all: take fewer"
            )
        calls, depth = values.calls()
        runtime = values.get("runtime", _seconds, None)
        repeated = values.flag("time_based")
        if repeated and runtime is None and self.stops is None:
            raise reader.wrong(values.line("time_based"), "time_based: expected runtime= with it")
        if self.stops is not None:
            runtime, repeated = self.stops, True
        sync_every = values.get("fsync", _count(0, 1 << 31), 0) or None
        sync_at_end = values.switch("end_fsync")
        if share == 1.0 and sync_every is not None:
            # fio makes none, either.
            values.note("fsync", "a job that only reads issues no fsync")
            sync_every = None
        if share == 1.0 and sync_at_end:
            values.note("end_fsync", "a job that only reads issues no fsync")
            sync_at_end = False
        rate = values.get("rate_iops", _rate, None)
        if rate is not None and 0.0 < share < 1.0:
            raise reader.wrong(
                values.line("rate_iops"),
                "rate_iops: fio takes it for reads and for writes each: expected it with a job that"
                " only reads or only writes",
            )
        file, shared = self._file(section, values, processes)
        values.other(processes, self.device_size is not None)
        return Job(
            name=self._name(values.text("name") or section.name),
            file=file,
            shared=shared,
            bytes=size // block * block,
            block=block,
            read_share=share,
            random=random,
            queue_depth=depth,
            processes=processes,
            calls=calls,
            direct=values.switch("direct"),
            seconds=runtime,
            repeated=repeated,
            warm_up=values.get("ramp_time", _seconds_or_none, 0.0),
            rate=rate,
            sync_every=sync_every,
            sync_at_end=sync_at_end,
        )

    def _file(self, section: _Section, values: "_Values", processes: int) -> tuple[int, bool]:
        """The number of a job's first file, and whether all its processes use that one."""
        if self.device_size is not None:
            if values.has("filename"):
                values.note("filename", "the device that the command names is read instead")
            return 0, True
        named = values.text("filename")
        if named is None:
            first = self._next
            self._next += processes
            return first, False
        if not re.fullmatch(r"[^/:\\]+", named) or named in (".", ".."):
            raise self.reader.wrong(
                values.line("filename"),
                f"filename={named}: expected one name without / and :"
                " (all files are made in a directory below the one that"
                " the command names; a block device is named there, too)",
            )
        if named not in self._numbers:
            self._numbers[named] = self._next
            self._next += 1
        return self._numbers[named], True

    def _name(self, preferred: str) -> str:
        """A name that no other job has."""
        name, number = preferred, 1
        while name in self._names:
            number += 1
            name = f"{preferred} ({number})"
        self._names.add(name)
        return name


class _Values:
    """The parsed options of a section."""

    def __init__(self, reader: _Reader, section: _Section) -> None:
        self._reader = reader
        self._section = section

    def has(self, name: str) -> bool:
        return name in self._section.options

    def line(self, name: str) -> int:
        option = self._section.options.get(name)
        return self._section.line if option is None else option.line

    def note(self, name: str, message: str) -> None:
        self._reader.note(self._section.options[name], message)

    def text(self, name: str) -> str | None:
        """An option's text. Raises ValueError if it has none."""
        option = self._section.options.get(name)
        if option is None:
            return None
        if not option.value:
            raise self._reader.wrong(option.line, f"{name}: expected {name}={EXAMPLES[name]}")
        return option.value

    def get(self, name: str, read: Callable[[str], T | None], default: T) -> T:
        """An option's value. Raises ValueError if it is none."""
        text = self.text(name)
        if text is None:
            return default
        value = read(text)
        if value is None:
            raise self._wrong(name, text)
        return value

    def flag(self, name: str) -> bool:
        """Return whether a flag is set. Raises ValueError if it has another value than 1."""
        option = self._section.options.get(name)
        if option is None:
            return False
        if option.value not in (None, "1"):
            raise self._reader.wrong(
                option.line, f"{name}={option.value}: expected {name}, or no such line"
            )
        return True

    def switch(self, name: str) -> bool:
        """An option that is 0 or 1."""
        return self.get(name, {"0": False, "1": True}.get, False)

    def pattern(self) -> tuple[float, bool]:
        """The share of reads, and whether offsets are random."""
        text = self.text("rw")
        if text is None:
            # fio's default.
            text = "read"
        if text not in PATTERNS:
            raise self._wrong("rw", text)
        share, random = PATTERNS[text]
        mixed = self.get("rwmixread", _count(0, 100), DEFAULT_MIX) / 100
        if share is None:
            return mixed, random
        if self.has("rwmixread"):
            self.note("rwmixread", f"no effect with rw={text}, as in fio")
        return share, random

    def calls(self) -> tuple[str, int]:
        """Return the kind of calls and the queue depth."""
        engine = self.text("ioengine") or "psync"
        if engine not in ENGINES:
            raise self._wrong("ioengine", engine)
        calls = ENGINES[engine]
        depth = self.get("iodepth", _count(1, 4096), 1)
        if engine == "libaio":
            self.note("ioengine", "libaio is implemented with io_uring")
        if calls == POSIX and depth > 1:
            self.note("iodepth", f"{depth} is 1 with ioengine={engine}, as in fio: each call waits")
            depth = 1
        return calls, depth

    def other(self, processes: int, device: bool) -> None:
        """Note options that Headrace treats otherwise than fio."""
        if self.has("directory"):
            self.text("directory")
            instead = "the device" if device else "the directory"
            self.note("directory", f"{instead} that the command names is used instead")
        if self.flag("thread"):
            self.note("thread", "processes are threads with and without it")
        if self.flag("group_reporting"):
            self.note("group_reporting", "each job has figures of its own, of all its processes")
        elif processes > 1:
            option = self._section.options["numjobs"]
            self._reader.note(option, "figures are of all processes of a job together")
        if self.flag("norandommap"):
            self.note("norandommap", "random offsets visit each block once before any comes again")

    def _wrong(self, name: str, text: str) -> ValueError:
        return self._reader.wrong(
            self.line(name), f"{name}={text}: expected {name}={EXAMPLES[name]}"
        )


def _size(text: str) -> int | None:
    """Bytes. `4kib` is 4,000 bytes for fio and 4,096 for everybody else: it is refused."""
    match = re.fullmatch(r"([0-9]{1,18})([a-z]*)", text.lower())
    if match is None or match[2] not in SIZES:
        return None
    size = int(match[1]) * 1024 ** SIZES[match[2]]
    return size if 0 < size < 1 << 60 else None


def _seconds_or_none(text: str) -> float | None:
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([a-z]*)", text.lower())
    if match is None or match[2] not in TIMES:
        return None
    return float(match[1]) * TIMES[match[2]]


def _seconds(text: str) -> float | None:
    """Seconds, more than 0."""
    return _seconds_or_none(text) or None


def _rate(text: str) -> float | None:
    """Requests per second: `2k` is 2,048, as everywhere in fio."""
    size = _size(text)
    return None if size is None else float(size)


def _count(least: int, most: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        if not re.fullmatch(r"[0-9]{1,10}", text):
            return None
        return int(text) if least <= int(text) <= most else None

    return read


EXAMPLES: Mapping[str, str] = {
    "bs": "4k (one size for reads and writes; k, m, g are powers of 1024)",
    "direct": "0 or direct=1",
    "directory": "a directory",
    "end_fsync": "0 or end_fsync=1",
    "filename": "a name",
    "fsync": "a count of writes, such as 32",
    "iodepth": "1 to 4096",
    "ioengine": f"one of {', '.join(ENGINES)}",
    "name": "a name",
    "numjobs": f"1 to {MOST_PROCESSES}",
    "ramp_time": "a time such as 5s or 2m",
    "rate_iops": "requests per second of each process, such as 500 (one for reads and writes)",
    "runtime": "a time such as 30s or 2m",
    "rw": f"one of {', '.join(PATTERNS)}",
    "rwmixread": "0 to 100",
    "size": "1g (k, m, g, t are powers of 1024; no percentage)",
}
FLAGS: Sequence[str] = ("group_reporting", "norandommap", "stonewall", "thread", "time_based")
KNOWN: frozenset[str] = frozenset([*EXAMPLES, *FLAGS])
"""Every option that is read. Others are refused by name."""
