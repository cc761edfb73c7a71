"""Jobs of fio's job files and command lines (fio(1), versions 3.33 to 3.40).

Each option has its effect, has none with a note, or is refused with its place.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.jobs.fio import values as readers
from headrace.jobs.fio.table import table
from headrace.jobs.fio.text import Section, Text, read_text
from headrace.jobs.plan import (
    IO_URING,
    OF_OFFSETS,
    Access,
    Batches,
    FileLayout,
    Job,
    JobContent,
    LatencyTarget,
    Log,
    Pace,
    Plan,
    Scheduling,
    SteadyState,
)

MOST_PROCESSES = 4096
MOST_FILES = 1 << 20
BLOCK = 4096
"""fio's own block size."""
LOGS = {"write_bw_log": "bw", "write_lat_log": "lat", "write_iops_log": "iops"}
BEST_EFFORT = 2
"""Class of I/O priorities, where a job gives none."""


def read_fio_file(
    file: Path,
    *,
    device_size: int | None = None,
    stops: float | None = None,
    file_size: int | None = None,
) -> Plan:
    """Read a fio job file for a directory, or for a device of a size.

    `stops` replaces each job's `runtime`, with `time_based`; `file_size` is that of files which
    stand for a device.

    Raises ValueError, which names the line, for unsupported options; OSError if the file cannot be
    read.
    """
    return parse(read_text(file), file, device_size=device_size, stops=stops, file_size=file_size)


def parse(
    text: str,
    file: Path,
    *,
    device_size: int | None = None,
    stops: float | None = None,
    file_size: int | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Plan:
    """Parse the text of a fio job file as `read_fio_file` does."""
    sections = Text(environment)
    sections.read(text, file)
    return planned(
        sections,
        file.stem,
        text,
        device_size=device_size,
        stops=stops,
        file_size=file_size,
        file=file,
    )


def planned(
    text: Text,
    name: str,
    source: str,
    *,
    device_size: int | None,
    stops: float | None,
    file_size: int | None = None,
    file: Path | None = None,
) -> Plan:
    """Return the jobs of sections. Raises ValueError, which names the place."""
    text.check()
    if not text.sections:
        raise ValueError(f"{file or name}: no jobs: expected a section such as [random-read]")
    maker = _Maker(text.notes, device_size, stops, file_size)
    for section in text.sections:
        maker.add(section)
    return Plan(
        name=name,
        description="the jobs of a fio job file",
        stages=maker.stages,
        files=[] if device_size is not None else maker.layouts(),
        job_file=source,
        notes=(*text.ignored(), *maker.notes),
        logs=maker.logs,
    )


class _Maker:
    """Jobs and files as they are made out of sections."""

    def __init__(
        self,
        notes: list[str],
        device_size: int | None,
        stops: float | None,
        file_size: int | None,
    ) -> None:
        self.notes = notes
        self.device_size = device_size
        self.file_size = file_size
        self.stops = stops
        self.stages: list[list[Job]] = []
        self.logs: list[Log] = []
        self._numbers: dict[tuple[str, ...], int] = {}
        self._files: dict[int, FileLayout] = {}
        self._verified: set[int] = set()
        self._next = 0
        self._names: set[str] = set()
        self._processes = 0

    def add(self, section: Section) -> None:
        """Make a job of a section, in the stage before it unless there is a stone wall."""
        values = _Values(section, self.notes)
        job = self._job(section, values)
        if values.flag("stonewall") or not self.stages:
            self.stages.append([])
        self.stages[-1].append(job)
        self._lay_out(job, values)

    def layouts(self) -> list[FileLayout]:
        """Files that must exist before the first job; those that are read have data."""
        return [layout for _, layout in sorted(self._files.items())]

    def _lay_out(self, job: Job, values: "_Values") -> None:
        """Note the files that a job finds."""
        creates = job.creates or job.work in ("create", "mkdir", "compute")
        if creates or job.calls == "null" or values.switch("file_append"):
            return
        is_directory = values.text("ioengine") in ("dirstat", "dirdelete")
        written = job.reads or values.switch("overwrite")
        filled = "written" if written else values.get("fallocate", "allocated")
        if job.work in ("stat", "unlink", "rmdir"):
            filled = "directory" if is_directory else "sparse"
        last = job.offset_step * (job.processes - 1) if job.shared else 0
        end = job.offset + job.bytes + last
        for rank, number in enumerate(job.all_files()):
            own = 0 if job.shared else job.offset_step * (rank // job.files)
            known = self._files.get(number)
            size = max(end + own, known.bytes if known is not None else 0)
            if known is not None and known.filled == "written":
                filled = "written"
            self._files[number] = FileLayout(number, size, filled=filled, least=size)

    def _job(self, section: Section, values: "_Values") -> Job:
        work, calls = values.get("ioengine", readers.ENGINES["psync"])
        pattern = values.pattern()
        if pattern.trims:
            if work != "allocate":
                raise ValueError(
                    f"{values.place('rw')}: rw={values.text('rw')}: devices are not trimmed:"
                    " expected reads and writes, or ioengine=falloc with files"
                )
            work = "punch"
        share = pattern.share if pattern.share is not None else values.mix()
        if work not in OF_OFFSETS:
            share = 1.0
        block, sizes = values.sizes()
        processes = values.get("numjobs", 1)
        if not 1 <= processes <= MOST_PROCESSES:
            raise values.wrong("numjobs", str(processes))
        self._processes += processes
        if self._processes > MOST_PROCESSES:
            raise ValueError(
                f"{values.place('numjobs')}: more than {MOST_PROCESSES} processes in all: take"
                " fewer"
            )
        names = self._file_names(values)
        files = len(names) or values.get("nrfiles", 1)
        if not 1 <= files <= MOST_FILES:
            raise values.wrong("nrfiles", str(files))
        file, shared = self._file(section, values, processes * files, names)
        bytes_, offset = self._extent(section, values, work, files, block)
        appends = values.switch("file_append")
        if appends and file in self._files:
            offset += self._files[file].bytes
        total = values.bytes_of("io_size", bytes_ * files)
        runtime = values.get("runtime", None) or None
        repeated = values.flag("time_based")
        if repeated and runtime is None and self.stops is None:
            values.note("time_based", "no effect without runtime=, as in fio")
            repeated = False
        if self.stops is not None:
            runtime, repeated = self.stops, work in ("transfer", "truncate", "allocate")
        if work == "compute" and runtime is None:
            raise ValueError(f"{section.place}: [{section.name}]: expected runtime= with cpuio")
        content = self._content(values, share, file, work)
        sync_every, sync_data_every, sync_at_end = self._syncs(values, share)
        name = self._name(values.text("name") or section.name)
        self._log(name, values)
        values.other(processes, self.device_size is not None)
        mode = values.get("sync", "none")
        depth = values.depth(calls)
        return Job(
            name=name,
            file=file,
            bytes=bytes_,
            block=block,
            read_share=share,
            access=self._access(values, pattern, bytes_),
            work=work,
            shared=shared,
            files=files,
            file_order=values.get("file_service_type", ("round-robin", 1)),
            creates=values.switch("create_on_open") or (appends and file not in self._files),
            advice=values.advice(pattern.random),
            cold=values.get("invalidate", True),
            cold_again=values.get("invalidate", True),
            offset=offset,
            offset_step=values.bytes_of("offset_increment", bytes_) or 0,
            sizes=sizes,
            queue_depth=depth,
            batches=values.batches(depth) if depth > 1 else Batches(),
            processes=processes,
            calls=calls,
            direct=values.direct(),
            stable=mode == "dsync",
            stable_attributes=mode == "sync",
            seconds=runtime,
            repeated=repeated,
            passes=max(values.get("loops", 1), 1),
            total=total,
            most=values.get("number_ios", None) or None,
            warm_up=values.get("ramp_time", 0.0),
            pace=self._pace(values, share, calls),
            sync_every=sync_every,
            sync_data_every=sync_data_every,
            sync_at_end=sync_at_end,
            content=content,
            scheduling=self._scheduling(values),
            after=values.text("wait_for"),
            ends_all=values.flag("exitall"),
            steady_state=values.steady_state(),
            compute=values.compute() if work == "compute" else None,
            log=any(values.has(option) for option in LOGS),
            seed=values.get("randseed", 1),
        )

    def _file_names(self, values: "_Values") -> list[str]:
        """The files that `filename` names."""
        named = values.text("filename")
        if named is None:
            return []
        separate = named.replace("\\:", "\0").split(":")
        names = [name.replace("\0", ":") for name in separate if name]
        if self.device_size is not None:
            values.note("filename", "the device that the command names is read instead")
            return names[:1]
        if any("/" in name for name in names):
            values.note("filename", "the file is made in the benchmark's own directory")
        return names

    def _file(
        self, section: Section, values: "_Values", count: int, names: list[str]
    ) -> tuple[int, bool]:
        """The number of a job's first file, and whether all its processes use the same."""
        if self.device_size is not None:
            return 0, True
        if not names:
            first = self._next
            self._next += count
            return first, False
        if self._next + len(names) >= MOST_FILES:
            raise ValueError(f"{section.place}: more than {MOST_FILES} files: take fewer")
        known = self._numbers.get(tuple(names))
        if known is None:
            if any(set(names) & set(others) for others in self._numbers):
                values.note("filename", "jobs that name a part of these files have other ones")
            known = self._numbers[tuple(names)] = self._next
            self._next += len(names)
        return known, True

    def _extent(
        self, section: Section, values: "_Values", work: str, files: int, block: int
    ) -> tuple[int, int]:
        """Bytes of each file that are used, and the first of them."""
        if work not in OF_OFFSETS:
            return (values.get("filesize", (0, 0))[1], 0)
        # fio takes 0 for the whole of it.
        given, device = values.get("size", None) or None, self.device_size
        least, most = values.get("filesize", (0, 0))
        if least != most:
            values.note("filesize", f"{most} bytes for each file, the largest of the range")
        whole = device if device is not None else most
        if not whole and not isinstance(given, int):
            # The file stands for a device.
            whole = self.file_size or 0
        if isinstance(given, float):
            if not whole:
                raise ValueError(
                    f"{values.place('size')}: size={values.text('size')}: a share of a file that is"
                    " made only now: expected size=1g, filesize= with it, or --file-size"
                )
            bytes_ = int(whole * given)
        elif given is not None:
            bytes_ = given // files
        else:
            bytes_ = whole
        if not bytes_:
            raise ValueError(
                f"{section.place}: [{section.name}]: expected size=, such as size=1g; or"
                " --file-size for a file in place of a device, or a device in place of DIR"
            )
        offset = values.bytes_of("offset", whole or bytes_) or 0
        if whole:
            bytes_ = min(bytes_, max(whole - offset, 0)) if bytes_ + offset > whole else bytes_
        if bytes_ < block:
            raise ValueError(
                f"{values.place('size')}: size={values.text('size') or bytes_}: expected at least"
                f" one block of {block} bytes in each file"
            )
        return bytes_, offset

    def _access(self, values: "_Values", pattern: readers.Pattern, bytes_: int) -> Access:
        distribution = values.get("random_distribution", {"kind": "uniform"})
        if distribution["kind"] == "zoned_abs":
            zones = [
                (share, min(first / bytes_, 1.0), min(end / bytes_, 1.0))
                for share, first, end in distribution["zones"]
            ]
            distribution = {"kind": "zoned", "zones": zones}
        if distribution["kind"] != "uniform" and not pattern.random:
            values.note("random_distribution", "no effect on sequential requests, as in fio")
        align = values.get("ba", [0, 0])[0]
        return Access(
            random=pattern.random,
            random_share=values.get("percentage_random", 1.0),
            in_a_row=pattern.in_a_row,
            same_offset=values.get("rw_sequencer", False),
            step=pattern.step,
            each_once=not values.flag("norandommap") and distribution["kind"] == "uniform",
            distribution=distribution,
            align=align,
            zones=values.zones(bytes_),
        )

    def _pace(self, values: "_Values", share: float, calls: str) -> Pace:
        bytes_ = values.get("rate", (None, None))
        requests = values.get("rate_iops", (None, None))
        think = values.get("thinktime", 0.0)
        spin = values.get("thinktime_spin", 0.0)
        weight = values.get("flow", 0)
        target = values.get("latency_target", None)
        search = None
        if target:
            if calls not in (IO_URING, "null"):
                values.note("latency_target", "no effect at a depth of 1")
            else:
                search = LatencyTarget(
                    seconds=target,
                    window=values.get("latency_window", 0.0) or 1.0,
                    share=values.get("latency_percentile", 1.0),
                    goes_on=values.switch("latency_run"),
                )
        used = (share > 0, share < 1)
        return Pace(
            requests=_used(requests, used),
            bytes=_used(bytes_, used),
            poisson=values.get("rate_process", False),
            think=(think, spin, values.get("thinktime_blocks", 1)) if think else None,
            delay=values.get("startdelay", (0.0, 0.0)),
            flow=(values.get("flow_id", 0), float(weight)) if weight else None,
            latency_target=search,
        )

    def _content(self, values: "_Values", share: float, file: int, work: str) -> JobContent:
        verify = values.get("verify", "")
        pattern = values.get("buffer_pattern", [])
        if verify and work == "transfer":
            if verify == "pattern":
                pattern = values.get("verify_pattern", [])
            elif verify not in ("crc32c", "crc32c-intel"):
                values.note("verify", "each byte is compared instead of a checksum")
        elif verify:
            verify = ""
        if values.flag("zero_buffers"):
            pattern = [0]
        writes, reads_only = share < 1, share >= 1
        if verify and reads_only and file not in self._verified:
            values.note("verify", "no job before it writes data to compare: reads are not compared")
            verify = ""
        if verify and writes:
            self._verified.add(file)
        return JobContent(
            compressible=values.get("buffer_compress_percentage", 0.0),
            duplicates=values.get("dedupe_percentage", 0.0),
            pattern=pattern,
            by_place=bool(verify),
            verify=bool(verify) and reads_only,
            read_back=bool(verify) and writes and values.get("do_verify", True),
        )

    def _syncs(self, values: "_Values", share: float) -> tuple[int | None, int | None, bool]:
        """Writes between two fsyncs and two fdatasyncs, and whether one comes at the end."""
        every = values.get("fsync", 0) or None
        data_every = values.get("fdatasync", 0) or None
        at_end = values.switch("end_fsync") or values.switch("fsync_on_close")
        if share >= 1.0:
            # fio makes none, either.
            for option in ("fsync", "fdatasync", "end_fsync", "fsync_on_close"):
                if values.get(option, 0):
                    values.note(option, "a job that only reads issues no fsync")
            every, data_every, at_end = None, None, False
        return every, data_every, at_end

    def _scheduling(self, values: "_Values") -> Scheduling:
        cpus = values.get("cpus_allowed", [])
        mask = values.get("cpumask", 0)
        cpus = cpus or [bit for bit in range(mask.bit_length()) if mask >> bit & 1]
        if nodes := values.get("numa_cpu_nodes", []):
            try:
                cpus = cpus or readers.cpus_of_nodes(nodes)
            except ValueError as error:
                raise ValueError(f"{values.place('numa_cpu_nodes')}: {error}") from None
        there = os.sched_getaffinity(0)
        if missing := sorted(set(cpus) - there):
            option = "cpus_allowed" if values.has("cpus_allowed") else "cpumask"
            raise ValueError(
                f"{values.place(option)}: {option}: this process may not use processor"
                f" {missing[0]}: expected some of {', '.join(map(str, sorted(there)))}"
            )
        level, kind = values.get("prio", None), values.get("prioclass", None)
        priority = None
        if level is not None or kind is not None:
            priority = (kind if kind is not None else BEST_EFFORT, level or 0)
        return Scheduling(
            cpus=cpus,
            one_cpu_each=values.get("cpus_allowed_policy", False),
            nice=values.get("nice", None),
            io_priority=priority,
        )

    def _log(self, name: str, values: "_Values") -> None:
        kinds = [
            (kind, values.get(option, "") or name)
            for option, kind in LOGS.items()
            if values.has(option)
        ]
        if kinds:
            self.logs.append(Log(name, kinds, values.get("log_avg_msec", 0)))

    def _name(self, preferred: str) -> str:
        """A name that no other job has."""
        name, number = preferred, 1
        while name in self._names:
            number += 1
            name = f"{preferred} ({number})"
        self._names.add(name)
        return name


def _used(
    rates: tuple[float | None, float | None], used: tuple[bool, bool]
) -> tuple[float | None, float | None]:
    """Return the rates of the ways that a job has."""
    reads, writes = rates
    return (reads if used[0] else None, writes if used[1] else None)


class _Values:
    """The parsed options of a section."""

    def __init__(self, section: Section, notes: list[str]) -> None:
        self._section = section
        self._notes = notes

    def has(self, name: str) -> bool:
        return name in self._section.options

    def place(self, name: str) -> str:
        option = self._section.options.get(name)
        return self._section.place if option is None else option.place

    def note(self, name: str, message: str) -> None:
        text = f"{self.place(name)}: {name}: {message}"
        if text not in self._notes:
            self._notes.append(text)

    def text(self, name: str) -> str | None:
        """An option's text. Raises ValueError if it has none."""
        option = self._section.options.get(name)
        if option is None:
            return None
        if not option.value:
            raise self.wrong(name, None)
        return option.value

    def get(self, name: str, default: Any) -> Any:
        """An option's value. Raises ValueError if it is none."""
        option = self._section.options.get(name)
        if option is None:
            return default
        kind = table().done[name].value
        if not option.value and kind not in ("flag", "optional_text"):
            raise self.wrong(name, None)
        if kind == "flag" and option.value is None:
            return True
        if kind in ("size_or_share", "filesize", "number") and (option.value or "").endswith("z"):
            raise ValueError(f"{option.place}: {name}: zoned devices are not supported")
        value = getattr(readers, kind)(option.value or "")
        if value is None:
            raise self.wrong(name, option.value)
        if kind.startswith(("size", "number")) and (option.value or "").lower().endswith("ib"):
            self.note(name, f"{option.value} is of powers of 1000, as in fio")
        return value

    def flag(self, name: str) -> bool:
        return bool(self.get(name, False))

    switch = flag

    def bytes_of(self, name: str, whole: int) -> int | None:
        """Bytes of an option that may be a share of a file."""
        value = self.get(name, None)
        return int(value * whole) if isinstance(value, float) else value

    def pattern(self) -> readers.Pattern:
        # fio's default is to read.
        pattern: readers.Pattern = self.get("rw", readers.Pattern(1.0, False, 1, 0))
        return pattern

    def mix(self) -> float:
        """The share of reads of a mixed job."""
        reads = self.get("rwmixread", None)
        writes = self.get("rwmixwrite", None)
        if reads is not None:
            return float(reads)
        return 0.5 if writes is None else 1 - float(writes)

    def sizes(self) -> tuple[int, tuple[list[tuple[int, float]], list[tuple[int, float]]]]:
        """The smallest request, and the sizes of reads and of writes if there are several."""
        if self.has("bssplit"):
            both = self.get("bssplit", [])
        elif self.has("bsrange"):
            step = 512 if self.flag("bs_unaligned") else 0
            extents: list[tuple[int, int]] = self.get("bsrange", [])
            both = [_multiples(least, most, step) for least, most in extents]
        else:
            reads, writes = self.get("bs", [BLOCK, BLOCK])
            if reads == writes:
                return reads, ([], [])
            both = [[(reads, 1.0)], [(writes, 1.0)]]
        least = min(size for one in both for size, share in one if share > 0)
        return least, (both[0], both[1])

    def depth(self, calls: str) -> int:
        depth: int = self.get("iodepth", 1)
        engine = self.text("ioengine")
        if not 1 <= depth <= MOST_PROCESSES:
            raise self.wrong("iodepth", str(depth))
        if engine in ("libaio", "posixaio"):
            self.note("ioengine", f"{engine} is implemented with io_uring")
        if calls not in (IO_URING, "null") and depth > 1:
            name = engine or "psync"
            self.note("iodepth", f"{depth} is 1 with ioengine={name}, as in fio: each call waits")
            return 1
        return depth

    def batches(self, depth: int) -> Batches:
        return Batches(
            submit=min(self.get("iodepth_batch", 0), depth),
            complete=min(self.get("iodepth_batch_complete_min", 0), depth),
            low=min(self.get("iodepth_low", 0), depth - 1),
        )

    def direct(self) -> bool:
        if self.has("buffered") and not self.has("direct"):
            return not self.switch("buffered")
        return self.switch("direct")

    def zones(self, bytes_: int) -> tuple[int, int, int] | None:
        """Bytes moved in each zone, its bytes, and those between zones, of `zonemode=strided`."""
        mode = self.get("zonemode", "none")
        size: int | None = self.get("zonesize", None) or None
        if size is None or (mode == "none" and self.has("zonemode")):
            return None
        extent = self.get("zonerange", None) or size
        if not size <= extent <= bytes_:
            raise self.wrong("zonerange" if self.has("zonerange") else "zonesize", str(extent))
        return size, extent, self.get("zoneskip", 0)

    def advice(self, random: bool) -> str:
        """fio's advice for reads through the page cache, by default that of the pattern."""
        advice: str = self.get("fadvise_hint", "pattern")
        if self.direct():
            return "none"
        return ("random" if random else "sequential") if advice == "pattern" else advice

    def steady_state(self) -> SteadyState | None:
        steady: readers.Steady | None = self.get("steadystate", None)
        if steady is None:
            return None
        seconds = self.get("steadystate_duration", 0.0)
        if not seconds:
            raise ValueError(
                f"{self.place('steadystate')}: steadystate: expected steadystate_duration= with it"
            )
        return SteadyState(
            by=steady.by,
            slope=steady.slope,
            limit=steady.limit,
            relative=steady.relative,
            seconds=seconds,
            ramp=self.get("steadystate_ramp_time", 0.0),
        )

    def compute(self) -> tuple[float, float]:
        share = self.get("cpuload", 0.0)
        if not share:
            raise ValueError(f"{self._section.place}: expected cpuload= with ioengine=cpuio")
        return share, self.get("cpuchunks", 0.0) or 0.05

    def other(self, processes: int, device: bool) -> None:
        """Note options that Headrace treats otherwise than fio."""
        if self.has("directory"):
            self.text("directory")
            if device:
                self.note("directory", "the device that the command names is used instead")
        if self.flag("thread"):
            self.note("thread", "processes are threads with and without it")
        if self.flag("group_reporting") or self.flag("new_group"):
            option = "group_reporting" if self.has("group_reporting") else "new_group"
            self.note(option, "each job has figures of its own, of all its processes")
        elif processes > 1:
            self.note("numjobs", "figures are of all processes of a job together")
        # Those that are not used, such as rwmixread of a job that reads, must be right as well.
        for name in self._section.options:
            self.get(name, None)

    def wrong(self, name: str, value: str | None) -> ValueError:
        option = table().done[name]
        example = option.example or readers.EXAMPLES.get(option.value, "a value")
        given = name if value is None else f"{name}={value}"
        return ValueError(f"{self.place(name)}: {given}: expected {name}={example}")


def _multiples(least: int, most: int, step: int) -> list[tuple[int, float]]:
    """Sizes of a range: multiples of the smallest one, or of a step; 1024 of them at the most."""
    unit = step or least
    count = (most - least) // unit
    skip = max(math.ceil(count / 1024), 1)
    return [(least + unit * place, 1.0) for place in range(0, count + 1, skip)]
