"""All checks of `headrace doctor`.

A part is checked by the function that the commands themselves use, so that both agree.

To add a check, add a probe unless one fits, and an entry to `CHECKS`.
"""

import importlib.metadata
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from headrace import _core, fuse
from headrace.doctor.check import Check, Outcome, absent, from_message, present, unknown
from headrace.host import NFS_CLIENT_CALLS, NFS_SERVER_CALLS
from headrace.lab import cgroups, mpi_launch, programs, servers
from headrace.lab.steps import loop_device, namespaces
from headrace.landlock import landlock_version
from headrace.monitors import installation
from headrace.mountinfo import mounted
from headrace.profile.capture import attachment, strace
from headrace.profile.counters import Watched, pressure, tree
from headrace.profile.counters.source import open_file
from headrace.tracefs import KernelTraceError, check_tracepoints, tracefs

Probe = Callable[[], Outcome]

NEEDED_CONTROLLERS = ("memory", "io")
"""Controllers of version 2 that have figures of a profile."""


def _program(name: str, path: Callable[[], str | None] = lambda: None) -> Probe:
    """Return a probe for a program in a search path, by default PATH."""

    def probe() -> Outcome:
        program = shutil.which(name, path=path())
        return absent(f"{name} not found") if program is None else present(program)

    return probe


def _testbed_programs(name: str, *needed: str, commands: tuple[str, ...] = ("lab up",)) -> Check:
    """Return the check of programs of testbeds, which name their packages."""

    def packages(extras: tuple[str, ...]) -> str:
        named = dict.fromkeys(programs.package_of(program) for program in extras)
        return f"install the package{'s' if len(named) > 1 else ''} {', '.join(named)}"

    def probe() -> Outcome:
        missing = tuple(program for program in needed if programs.find(program) is None)
        if missing:
            return absent(f"{', '.join(missing)} not found", packages(missing))
        return present(", ".join(needed))

    return Check(name, commands, probe, packages(needed))


def _extra(name: str, commands: tuple[str, ...], title: str) -> Check:
    """Return the check of the Python packages of one of Headrace's extras."""

    def probe() -> Outcome:
        try:
            requirements = importlib.metadata.requires("headrace") or []
        except importlib.metadata.PackageNotFoundError:
            return unknown("Headrace is not installed as a package")
        of_extra = [it for it in requirements if re.search(rf"extra == ['\"]{name}['\"]", it)]
        outcomes = [_requirement(text) for text in of_extra]
        if missing := [text for is_met, text in outcomes if not is_met]:
            return absent(", ".join(missing))
        return present(", ".join(text for _, text in outcomes))

    return Check(title, commands, probe, f"pip install 'headrace[{name}]'")


def _requirement(requirement: str) -> tuple[bool, str]:
    """Return whether a requirement such as `dask[distributed]>=2026.1` is met, and a text."""
    package = re.match(r"[\w.-]+", requirement)
    assert package is not None
    try:
        version = importlib.metadata.version(package[0])
    except importlib.metadata.PackageNotFoundError:
        return False, f"{package[0]} not installed"
    least = re.search(r">=\s*([\d.]+)", requirement)
    if least is not None and _numbers(version) < _numbers(least[1]):
        return False, f"{package[0]} {version} is older than {least[1]}"
    return True, f"{package[0]} {version}"


def _numbers(version: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", version)]


def _root() -> Outcome:
    return present("this user") if os.geteuid() == 0 else absent(f"this is user {os.geteuid()}")


def _strace() -> Outcome:
    found = strace.version()
    return absent("strace not found") if found is None else present(f"{found[0]}.{found[1]}")


def _ptrace() -> Outcome:
    if strace.version() is None:
        return unknown("only strace can show it", "install the package strace")
    reason = strace.refusal()
    return present("strace traces a program") if reason is None else absent(reason)


def _ptrace_of_running() -> Outcome:
    reason = attachment.scope_refusal()
    return present("processes of this user") if reason is None else from_message(reason)


def _tracefs() -> Outcome:
    try:
        return present(str(tracefs()))
    except KernelTraceError as error:
        return from_message(str(error))


def _tracepoints() -> Outcome:
    try:
        place = tracefs()
    except KernelTraceError:
        return unknown("only tracefs shows them", "get tracefs first")
    try:
        check_tracepoints()
    except KernelTraceError as error:
        return absent(str(error).partition(":")[0])
    return present(str(place / "events"))


def _delay_accounting() -> Outcome:
    return present("on") if tree.accounts_delays("/proc") else absent("it is off")


def _pressure() -> Outcome:
    read = pressure.SOURCE.open(Watched())
    if read is None:
        return absent("the kernel has no /proc/pressure")
    try:
        read()
    except OSError as error:
        return absent(f"/proc/pressure: {error.strerror}")
    return present("/proc/pressure")


def _process_file(name: str) -> Probe:
    """Return a probe for a file that the kernel has for each process."""

    def probe() -> Outcome:
        is_there = open_file(Path("/proc/self") / name) is not None
        return present(f"/proc/PID/{name}") if is_there else absent(f"no /proc/PID/{name}")

    return probe


def _cgroups_v2() -> Outcome:
    tops = [mount.at for mount in mounted() if mount.kind == "cgroup2"]
    if not tops:
        return absent("no file system of type cgroup2 is mounted")
    has = (tops[0] / "cgroup.controllers").read_text(encoding="ascii").split()
    missing = [name for name in NEEDED_CONTROLLERS if name not in has]
    if missing:
        return absent(f"{tops[0]} lacks the controllers {', '.join(missing)}")
    return present(str(tops[0]))


def _controller(name: str) -> Probe:
    """Return a probe for a writable control group hierarchy, of version 1 or 2."""

    def probe() -> Outcome:
        hierarchy = cgroups.hierarchy(name)
        if hierarchy is None:
            return absent("the kernel has no such controller, or it is not mounted")
        if not os.access(hierarchy.top, os.W_OK):
            return absent(f"{hierarchy.top} is not writable", RUN_AS_ROOT)
        return present(f"{hierarchy.top}, version {hierarchy.version}")

    return probe


def _io_uring() -> Outcome:
    if _core.has_io_uring():
        return present("allowed")
    setting = Path("/proc/sys/kernel/io_uring_disabled")
    if setting.exists() and (value := setting.read_text().strip()) != "0":
        return absent(f"{setting} is {value}", "sysctl kernel.io_uring_disabled=0")
    return absent("the kernel or a container refuses it")


def _fuse() -> Outcome:
    reason = fuse.refusal()
    return present(str(fuse.DEVICE)) if reason is None else from_message(reason)


def _file(path: Path) -> Probe:
    return lambda: present(str(path)) if path.exists() else absent(f"no {path}")


def _mpirun() -> Outcome:
    program = mpi_launch.find_mpirun()
    return absent("mpirun not found") if program is None else present(program)


def _loop_devices() -> Outcome:
    control = loop_device.CONTROL
    if not control.exists():
        return absent(f"no {control}")
    if not os.access(control, os.R_OK):
        return absent(f"{control} is not accessible", RUN_AS_ROOT)
    return present(str(control))


def _namespaces() -> Outcome:
    if os.geteuid() != 0:
        return unknown("only root can create them", RUN_AS_ROOT)
    if programs.find("unshare") is None:
        return unknown("unshare not found")
    try:
        programs.run(*namespaces.UNSHARE, "true")
    except _core.RunError as error:
        return absent(str(error))
    return present("network, mount, UTS, IPC")


def _landlock() -> Outcome:
    version = landlock_version()
    return present(f"version {version}") if version else absent("the kernel does not enforce it")


def _wheel() -> Outcome:
    try:
        return present(str(installation.find_wheel()))
    except ValueError as error:
        return from_message(str(error))


RUN_AS_ROOT = "run as root"
STRACE = ("profile record --capture strace",)
KERNEL_TRACE = ("calibrate --trace", "twin --trace", "bench run --trace")
RANKS = ("bench", "profile record", "lab bench")
"""Commands that MPI starts on several hosts."""

CHECKS: tuple[Check, ...] = (
    Check("root", ("lab", *KERNEL_TRACE, "profile record --capture tracefs"), _root, RUN_AS_ROOT),
    # Profiles and traces of the kernel.
    Check("strace", STRACE, _strace, "install the package strace"),
    Check("ptrace", STRACE, _ptrace, "leave the container or the tracer, or run as root"),
    Check(
        "ptrace of running processes", ("profile record --pid",), _ptrace_of_running, RUN_AS_ROOT
    ),
    Check(
        "tracefs",
        (*KERNEL_TRACE, "profile record --capture tracefs"),
        _tracefs,
        "mount -t tracefs nodev /sys/kernel/tracing",
    ),
    Check(
        "tracepoints",
        KERNEL_TRACE,
        _tracepoints,
        "use a kernel with CONFIG_BLK_DEV_IO_TRACE and CONFIG_FTRACE_SYSCALLS",
    ),
    Check(
        "delay accounting",
        ("profile record",),
        _delay_accounting,
        "sysctl kernel.task_delayacct=1, before the program starts",
    ),
    Check(
        "pressure stall information",
        ("profile record", "agent start"),
        _pressure,
        "use a kernel with CONFIG_PSI, and boot it with psi=1",
    ),
    Check(
        "scheduler statistics",
        ("profile record",),
        _process_file("schedstat"),
        "use a kernel with CONFIG_SCHED_INFO",
    ),
    Check(
        "I/O accounting",
        ("profile record", "bench run"),
        _process_file("io"),
        "use a kernel with CONFIG_TASK_IO_ACCOUNTING",
    ),
    Check(
        "control groups v2",
        ("profile record --cgroup",),
        _cgroups_v2,
        "boot with systemd.unified_cgroup_hierarchy=1 and cgroup_no_v1=all",
    ),
    # Benchmarks.
    Check(
        "io_uring",
        ("bench quick", "bench run --calls io-uring"),
        _io_uring,
        "use Linux 5.19 or later, and allow io_uring in the container",
    ),
    Check("FUSE", ("bench tune --profiler fuse",), _fuse, "load the kernel module fuse"),
    Check(
        "NFS client",
        ("bench tune --profiler nfs-client",),
        _file(NFS_CLIENT_CALLS),
        "mount an NFS file system",
    ),
    Check(
        "NFS server",
        ("bench tune --profiler nfs-server",),
        _file(NFS_SERVER_CALLS),
        "install the package nfs-kernel-server, and export a directory",
    ),
    _testbed_programs("gluster", "gluster", commands=("bench tune --profiler gluster:VOLUME",)),
    Check("C compiler", ("baseline",), _program("cc"), "install the package gcc"),
    Check("mpirun", RANKS, _mpirun, "install the package mpich or openmpi-bin"),
    _extra("mpi", RANKS, "mpi4py"),
    # Testbeds.
    _testbed_programs("programs of util-linux", "losetup", "mount", "unshare", "nsenter"),
    _testbed_programs("programs of iproute2", "ip", "tc"),
    Check(
        "loop devices",
        ("lab up",),
        _loop_devices,
        "modprobe loop, and give a container /dev/loop-control",
    ),
    Check("namespaces", ("lab up",), _namespaces, "give the container CAP_SYS_ADMIN"),
    Check(
        "memory control groups",
        ("lab up",),
        _controller("memory"),
        "mount control groups with the controller memory",
    ),
    Check(
        "block I/O control groups",
        ("lab up",),
        _controller("blkio"),
        "mount control groups with the controller io (version 2) or blkio (version 1)",
    ),
    _testbed_programs("ext4, ext3, ext2", "mkfs.ext4", "mkfs.ext3", "mkfs.ext2"),
    _testbed_programs("XFS", "mkfs.xfs"),
    _testbed_programs("Btrfs", "mkfs.btrfs"),
    *(
        _testbed_programs(f"servers of {server.name}", *server.programs)
        for server in servers.ALL
        if server.programs
    ),
    # Sweeps.
    _extra("dask", ("sweep --on dask", "optimise --on dask"), "Dask"),
    Check(
        "Slurm",
        ("sweep --on slurm", "optimise --on slurm"),
        _program("sbatch"),
        "use a login node of the cluster, or install the package slurm-client",
    ),
    Check(
        "PBS",
        ("sweep --on pbs", "optimise --on pbs"),
        _program("qsub"),
        "use a login node of the cluster",
    ),
    _extra("sensitivity", ("sweep --design sobol", "sweep --design morris"), "SALib"),
    # Traces, results, pages and agents.
    _extra("darshan", ("trace info", "trace findings", "trace workload"), "PyDarshan"),
    _extra("postgresql", ("results",), "PostgreSQL driver"),
    _extra("web", ("serve",), "libraries of the pages"),
    _extra("pdf", ("design report", "profile report", "net draw"), "Typst"),
    _extra("lifetimes", ("design lifetimes",), "lifelines"),
    Check(
        "Landlock",
        ("serve",),
        _landlock,
        "use Linux 5.13 or later, with landlock in the boot option lsm=",
    ),
    Check(
        "SSH client",
        ("agent install", "agent remove"),
        _program("ssh"),
        "install the package openssh-client",
    ),
    Check(
        "SSH server",
        ("agent install",),
        _program("sshd", programs.path),
        "install the package openssh-server, for agents on this machine",
    ),
    Check("wheel of Headrace", ("agent install",), _wheel, "make dist"),
)
"""All checks, by topic. Package names are those of Debian."""
