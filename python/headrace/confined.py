"""Run a module of Headrace in a process that opens only stated files.

    python -P -m headrace.confined CONFINEMENT MODULE ARGUMENT…

CONFINEMENT is a `Confinement` as JSON, or a file with one. Servers run the documents of their users
in such processes. The kernel enforces it (Landlock), so that a mistake elsewhere opens nothing.
"""

import os
import runpy
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import msgspec

from headrace import _core

READ_BELOW = "HEADRACE_READ_BELOW"
"""Directories that files named in documents lie below, as PATH has them."""
CODE = "HEADRACE_CODE"
REFUSED = "refused"
"""Value of HEADRACE_CODE with which no class of a scenario in Python is loaded."""
SYSTEM = (
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr", "/opt", "/nix/store", "/proc", "/sys"),
    *("/etc/alternatives", "/etc/fonts", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf"),
    *("/etc/ld.so.conf.d", "/etc/localtime", "/etc/machine-id", "/etc/mime.types"),
    *("/etc/nsswitch.conf", "/etc/os-release", "/etc/resolv.conf", "/etc/ssl"),
)
"""Programs, libraries and descriptions of the host."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm")
KERNEL = ("/proc", "/sys", "/dev")
"""Where a measurement sets up what it measures: caches, control groups, devices."""


class Confinement(msgspec.Struct, frozen=True):
    """Files that a process may open."""

    readable: tuple[str, ...] = ()
    """Files and directories, beside Python's own and the system's programs and libraries."""
    writable: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """Directories that files named in documents lie below."""
    temporary: str | None = None
    """Directory for temporary files, which is made."""
    code: bool = False
    """Whether scenarios may name classes in Python."""
    is_enforced: bool = True
    """Whether the kernel enforces it. A process that mounts file systems or runs a program of its
    user cannot be confined."""


def own_files() -> tuple[str, ...]:
    """Return the directories of Python, its packages and Headrace."""
    names = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    names |= set(sysconfig.get_paths().values()) | {it for it in sys.path if it}
    return (*sorted(names), str(Path(__file__).resolve().parents[1]))


def limit_documents(below: Iterable[str], *, code: bool) -> None:
    """Limit the files that documents may name in this process, and those that it starts.

    Parameters:
        below: Directories that the files lie below.
        code: Whether scenarios may name classes in Python.
    """
    os.environ[READ_BELOW] = os.pathsep.join(below)
    os.environ.pop(CODE, None)
    if not code:
        os.environ[CODE] = REFUSED


def confine(confinement: Confinement) -> bool:
    """Confine this process for ever, and return whether the kernel enforces it.

    It must have one thread: those that run already would stay as they are.

    Raises:
        RuntimeError: if it has several threads.
        OSError: if the kernel rejects the rules.
    """
    if confinement.temporary is not None:
        os.makedirs(confinement.temporary, mode=0o700, exist_ok=True)
        os.environ["TMPDIR"] = confinement.temporary
    limit_documents(confinement.documents, code=confinement.code)
    if not confinement.is_enforced:
        return False
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("a process with several threads cannot be confined")
    readable = (*SYSTEM, *own_files(), *confinement.readable)
    return _core.confine(readable, (*DEVICES, *confinement.writable))


def main() -> None:
    """Confine this process, and run the module that its arguments name."""
    given, module = sys.argv[1:3]
    text = given if given.startswith("{") else Path(given).read_text(encoding="utf-8")
    confine(msgspec.json.decode(text, type=Confinement))
    sys.argv = sys.argv[2:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
