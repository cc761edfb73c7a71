"""Process that reads one Darshan log through PyDarshan and writes its contents as messages.

PyDarshan calls a C library, and a damaged log can make that library end the process. So the log is
read in a process of its own: `python -m headrace.trace.darshan.log_process FILE`. Standard output
has the messages of `messages.py`. Standard error has what the C library prints.

The arrays are read from the C library's records through PyDarshan's own binding, because
PyDarshan's function makes a dictionary for each segment.
"""

import contextlib
import ctypes
import importlib
import os
import resource
import signal
import sys
from typing import IO, Any

import numpy as np

from headrace.trace.darshan.messages import (
    COUNTERS,
    DXT,
    LUSTRE,
    SEGMENT,
    Counters,
    Header,
    Message,
    Module,
    SegmentRecord,
    Stripes,
    write_message,
)

BATCH = 4096
"""Records in a message with counters."""
PR_SET_PDEATHSIG = 1
"""linux/prctl.h"""
TIME_LIMIT_S = 3600
"""Limit on processor time. A damaged log may keep the C library in an endless loop."""


class DamagedLogError(Exception):
    """The C library cannot read the log."""


def main(path: str) -> int:
    """Write the messages of a log; return the exit status."""
    _end_with_parent()
    sys.stdout.flush()
    output = os.fdopen(os.dup(1), "wb")
    # The C library and PyDarshan may print; standard output has messages only.
    os.dup2(2, 1)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT_S, TIME_LIMIT_S))
    try:
        cffi_backend = importlib.import_module("darshan.backend.cffi_backend")
    except ImportError as error:
        print(f"headrace: no PyDarshan: {error}", file=sys.stderr)
        return 3
    try:
        write_contents(cffi_backend, path, output)
        output.flush()
    except BrokenPipeError:
        return 0
    except (DamagedLogError, UnicodeDecodeError, ValueError, KeyError, MemoryError) as error:
        print(f"Error: {error or 'not enough memory'}", file=sys.stderr)
        return 2
    return 0


def _end_with_parent() -> None:
    """Have the kernel end this process with its parent, even if the parent is killed."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def write_contents(backend: Any, path: str, output: IO[bytes]) -> None:
    """Write the messages of a log.

    Parameters
    ----------
    backend
        PyDarshan's module `darshan.backend.cffi_backend`.
    path
        The log.
    output
        Stream for the messages.
    """
    ffi, library = backend.ffi, backend.libdutil
    handle = library.darshan_log_open(os.fsencode(path))
    if handle == ffi.NULL:
        raise DamagedLogError("the header cannot be read")
    log = {"handle": handle, "modules": None, "name_records": None}
    job = ffi.new("struct darshan_job *")
    if library.darshan_log_get_job(handle, job) < 0:
        raise DamagedLogError("the record of the job cannot be read")
    details = backend.log_get_job(log)
    program = ffi.new("char[]", 1 << 14)
    if library.darshan_log_get_exe(handle, program) < 0:
        raise DamagedLogError("the name of the program cannot be read")
    modules = backend.log_get_modules(log)
    header = Header(
        version=details["log_ver"],
        processes=details["nprocs"],
        job=details["jobid"],
        start_s=details["start_time_sec"],
        run_time_s=details["run_time"],
        program=ffi.string(program).decode("utf-8", "replace"),
        hints=details["metadata"].get("h", ""),
        modules=[
            Module(
                name=name,
                incomplete=bool(module["partial_flag"]),
                bytes=module["len"],
                is_read=_is_read(backend, name),
            )
            for name, module in modules.items()
        ],
        names=_names(backend, log),
    )
    write_message(output, header)
    for name, module in modules.items():
        if not _is_read(backend, name):
            continue
        if name in COUNTERS:
            _counters(backend, handle, name, module["idx"], output)
        elif name in DXT:
            _segments(backend, handle, name, module["idx"], output)
        elif name == LUSTRE:
            _stripes(backend, handle, module["idx"], output)
    library.darshan_log_close(handle)


def _is_read(backend: Any, name: str) -> bool:
    """Return whether a module's records are known; older releases of PyDarshan know fewer."""
    known = (*COUNTERS, *DXT, LUSTRE)
    return name in known and name in backend._structdefs


def _names(backend: Any, log: dict[str, Any]) -> dict[int, str]:
    ffi, library = backend.ffi, backend.libdutil
    records = ffi.new("struct darshan_name_record **")
    count = ffi.new("int *")
    library.darshan_log_get_name_records(log["handle"], records, count)
    names = {}
    for number in range(count[0]):
        record = records[0][number]
        # Names are bytes: any encoding is possible.
        names[record.id] = ffi.string(record.name).decode("utf-8", "backslashreplace")
        library.darshan_free(record.name)
    library.darshan_free(records[0])
    return names


def _records(backend: Any, handle: Any, name: str, module: int) -> Any:
    """Yield each record of a module; it is valid until the next one."""
    ffi, library = backend.ffi, backend.libdutil
    while True:
        pointer = ffi.new("void **")
        status = library.darshan_log_get_record(handle, module, pointer)
        if status < 0:
            raise DamagedLogError(f"a record of module {name} cannot be read")
        if status == 0:
            return
        try:
            yield pointer[0]
        finally:
            library.darshan_free(pointer[0])


def _counters(backend: Any, handle: Any, name: str, module: int, output: IO[bytes]) -> None:
    ffi = backend.ffi
    structure = backend._structdefs[name].replace("**", "*")
    names, times = backend.counter_names(name), backend.fcounter_names(name)
    identifiers: list[int] = []
    ranks: list[int] = []
    counters: list[bytes] = []
    seconds: list[bytes] = []

    def write() -> None:
        if not identifiers:
            return
        message: Message = Counters(
            module=name,
            counter_names=names,
            time_names=times,
            identifiers=np.array(identifiers, np.uint64).tobytes(),
            ranks=np.array(ranks, np.int64).tobytes(),
            counters=b"".join(counters),
            times=b"".join(seconds),
        )
        write_message(output, message)
        for part in (identifiers, ranks, counters, seconds):
            part.clear()

    for pointer in _records(backend, handle, name, module):
        record = ffi.cast(structure, pointer)
        identifiers.append(record.base_rec.id)
        ranks.append(record.base_rec.rank)
        counters.append(bytes(ffi.buffer(record.counters)))
        seconds.append(bytes(ffi.buffer(record.fcounters)))
        if len(identifiers) == BATCH:
            write()
    write()


def _segments(backend: Any, handle: Any, name: str, module: int, output: IO[bytes]) -> None:
    ffi = backend.ffi
    size = ffi.sizeof("struct dxt_file_record")
    for pointer in _records(backend, handle, name, module):
        record = ffi.cast("struct dxt_file_record *", pointer)
        writes, reads = record.write_count, record.read_count
        if writes < 0 or reads < 0:
            raise DamagedLogError(f"{writes} writes and {reads} reads in a record of {name}")
        segments = ffi.cast("char *", pointer) + size
        write_message(
            output,
            SegmentRecord(
                module=name,
                identifier=record.base_rec.id,
                rank=record.base_rec.rank,
                host=ffi.string(record.hostname).decode("utf-8", "backslashreplace"),
                writes=writes,
                reads=reads,
                segments=bytes(ffi.buffer(segments, (writes + reads) * SEGMENT.itemsize)),
            ),
        )


def _stripes(backend: Any, handle: Any, module: int, output: IO[bytes]) -> None:
    ffi = backend.ffi
    names = backend.counter_names("LUSTRE_COMP")
    for pointer in _records(backend, handle, "LUSTRE", module):
        record = ffi.cast("struct darshan_lustre_record *", pointer)
        if record.num_comps < 1:
            continue
        first = dict(zip(names, ffi.unpack(record.comps[0].counters, len(names)), strict=True))
        count = max(0, min(first["LUSTRE_COMP_STRIPE_COUNT"], record.num_stripes))
        write_message(
            output,
            Stripes(
                identifier=record.base_rec.id,
                size=first["LUSTRE_COMP_STRIPE_SIZE"],
                count=count,
                targets=ffi.unpack(ffi.cast("int64_t *", record.ost_ids), count) if count else [],
            ),
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
