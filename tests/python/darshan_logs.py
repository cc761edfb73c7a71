"""Darshan logs for tests: those that PyDarshan ships, and logs with records of a test's own."""

import functools
import hashlib
import importlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headrace.trace import DarshanLog
from headrace.trace.darshan.log import read_contents
from headrace.trace.darshan.log_process import write_contents

darshan: Any = importlib.import_module("darshan")
backend: Any = importlib.import_module("darshan.backend.cffi_backend")

CREATE = """
void *darshan_log_create(const char *name, int compression, int is_partial);
int darshan_log_put_job(void *log, struct darshan_job *job);
int darshan_log_put_exe(void *log, char *program);
int darshan_log_put_mounts(void *log, void *mounts, int count);
int darshan_log_put_namehash(void *log, void *names);
int darshan_log_put_mod(void *log, int module, void *records, int bytes, int version);
"""
"""Functions of libdarshan-util (darshan-logutils.h) that PyDarshan does not declare."""
VERSIONS = {"POSIX": 4, "MPI-IO": 3, "STDIO": 2, "DFS": 1, "DAOS": 1, "H5F": 3, "H5D": 2}
"""Format versions of modules in logs of Darshan 3.4."""


class Counted(NamedTuple):
    """Counters of one record, without the module's prefix; those not given are 0."""

    module: str
    identifier: int
    rank: int
    counters: Mapping[str, int]


@functools.cache
def shipped() -> list[Path]:
    """Each log of the package once, small ones first."""
    found: dict[str, Path] = {}
    for path in sorted(Path(darshan.__file__).parent.rglob("*.darshan")):
        found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return sorted(found.values(), key=lambda it: it.stat().st_size)


def log(name: str) -> Path:
    """The log whose name begins so."""
    return next(path for path in shipped() if path.name.startswith(name))


@functools.cache
def contents(path: Path) -> DarshanLog:
    """The contents of an intact log, read once and in this process: another would import pandas
    for each log. Tests of traces and of damaged logs read by that process."""
    return read_intact(path)


def read_intact(path: Path) -> DarshanLog:
    """The contents of an intact log, read in this process: a property has many logs."""
    messages = io.BytesIO()
    write_contents(backend, str(path), messages)
    messages.seek(0)
    return read_contents(path, messages)


def report(path: Path) -> Any:
    """PyDarshan's own report of an intact log."""
    return darshan.DarshanReport(str(path), read_all=True)


@functools.cache
def _library() -> Any:
    backend.ffi.cdef(CREATE)
    return backend.libdutil


def write_log(
    path: Path,
    processes: int,
    records: Sequence[Counted],
    other_modules: Sequence[str] = (),
) -> Path:
    """Write a log of one job of 100 s.

    `other_modules` are modules whose records nobody understands. Files have no names.
    """
    library, ffi = _library(), backend.ffi
    handle = library.darshan_log_create(os.fsencode(path), 0, 0)
    assert handle != ffi.NULL
    job = ffi.new("struct darshan_job *")
    job.start_time_sec, job.end_time_sec, job.nprocs, job.jobid = 1_000_000, 1_000_100, processes, 7
    assert library.darshan_log_put_job(handle, job) == 0
    assert library.darshan_log_put_exe(handle, ffi.new("char[]", b"/bin/program")) == 0
    assert library.darshan_log_put_mounts(handle, ffi.NULL, 0) == 0
    assert library.darshan_log_put_namehash(handle, ffi.NULL) == 0
    modules = {*other_modules, *(it.module for it in records)}
    # The library writes modules in the order of their numbers.
    for module in sorted(modules, key=backend.mod_name_to_idx):
        chosen = [it for it in records if it.module == module]
        content = _records(chosen) if chosen else ffi.new("char[]", bytes(range(64)))
        number, size = backend.mod_name_to_idx(module), ffi.sizeof(content)
        version = VERSIONS.get(module, 1)
        assert library.darshan_log_put_mod(handle, number, content, size, version) >= 0
    library.darshan_log_close(handle)
    return path


def _records(given: Sequence[Counted]) -> Any:
    """Records of one module in the library's structure."""
    module = given[0].module
    structure = backend._structdefs[module].removesuffix(" **")
    array = backend.ffi.new(f"{structure}[]", len(given))
    names = backend.counter_names(module)
    prefix = module.replace("-", "") + "_"
    for entry, record in zip(array, given, strict=True):
        entry.base_rec.id, entry.base_rec.rank = record.identifier, record.rank
        for name, value in record.counters.items():
            entry.counters[names.index(prefix + name)] = value
    return array
