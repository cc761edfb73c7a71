"""File systems on disks: their mkfs command and mount options.

To add one, add its function to `KINDS`.
"""

from collections.abc import Callable
from typing import NamedTuple

from headrace._core import ScenarioError
from headrace.lab.values import Values

MIB = 1 << 20


class FileSystem(NamedTuple):
    """A type of file system with its mkfs command and mount options."""

    kind: str
    make: tuple[str, ...]
    """The mkfs command, without the device."""
    options: tuple[str, ...]
    """Mount options that follow from the scenario's journal and mapping."""
    given: tuple[str, ...]
    """Mount options of `lab.mount_options`."""


def file_system_for(values: Values, section: str) -> FileSystem:
    """Return the file system of a machine.

    Parameters
    ----------
    values
        Values of the scenario.
    section
        Section of the file system, such as `machine.file_system`.

    Raises
    ------
    ScenarioError
        If `lab.file_system` is unknown.
    """
    kind = values.word("lab.file_system") or _kind(values, section)
    if kind not in KINDS:
        raise ScenarioError(
            f'lab.file_system = "{kind}": expected one of {", ".join(sorted(KINDS))}'
        )
    make, options = KINDS[kind](values, section)
    for field in ("journal.mode", "allocation.mapping", "allocation.delayed"):
        path = f"{section}.{field}"
        if values.word("lab.file_system") is None:
            values.carried(path, kind)
    given = [word for word in (values.word("lab.mount_options") or "").split(",") if word]
    return FileSystem(kind, (f"mkfs.{kind}", *make), tuple(options), tuple(given))


def _kind(values: Values, section: str) -> str:
    """Return the type that has the scenario's journal and block mapping."""
    mode, mapping = (
        values.word(f"{section}.{field}") for field in ("journal.mode", "allocation.mapping")
    )
    if mode is None:
        return "ext4"
    if mode == "log":
        return "xfs"
    if mapping == "indirect":
        return "ext2" if mode == "none" else "ext3"
    return "ext4"


# A sparse image reads as zeros, so neither mkfs nor the kernel has to write zeros (mke2fs(8)).
PREZEROED = ("-q", "-F", "-E", "assume_storage_prezeroed=1,lazy_itable_init=0,lazy_journal_init=0")


def _ext2(values: Values, section: str) -> tuple[list[str], list[str]]:
    return [*PREZEROED], []


def _ext3(values: Values, section: str) -> tuple[list[str], list[str]]:
    journal = f"{section}.journal"
    make, options = [*PREZEROED], []
    # Whole MiB, at least 1024 blocks: mke2fs(8).
    size = values.carried_whole(f"{journal}.size", "mkfs -J size={}", MIB, least=4)
    if size is not None:
        make += ["-J", f"size={size}"]
    if (mode := values.word(f"{journal}.mode")) in ("writeback", "ordered", "journal"):
        options.append(f"data={mode}")
    # Whole seconds, of which 0 is the default: ext4(5).
    seconds = values.carried_whole(f"{journal}.commit_interval", "commit={}", least=1)
    if seconds is not None:
        options.append(f"commit={seconds}")
    if (barriers := values.word(f"{journal}.barriers")) is not None:
        options.append(f"barrier={int(barriers == 'true')}")
        values.carried(f"{journal}.barriers", options[-1])
    return make, options


def _ext4(values: Values, section: str) -> tuple[list[str], list[str]]:
    delayed = values.word(f"{section}.allocation.delayed")
    without = ["nodelalloc"] if delayed == "false" else []
    if values.word(f"{section}.journal.mode") == "none":
        return [*PREZEROED, "-O", "^has_journal"], without
    make, options = _ext3(values, section)
    return make, options + without


def _xfs(values: Values, section: str) -> tuple[list[str], list[str]]:
    make = ["-q", "-f", "-K"]
    path = f"{section}.journal.size"
    if values.word(f"{section}.journal.mode") == "log":
        size = values.carried_whole(path, "-l size={}", MIB, suffix="m")
        if size is not None:
            make += ["-l", f"size={size}m"]
    return make, []


def _btrfs(values: Values, section: str) -> tuple[list[str], list[str]]:
    return ["-q", "-f", "-K"], []


KINDS: dict[str, Callable[[Values, str], tuple[list[str], list[str]]]] = {
    "ext2": _ext2,
    "ext3": _ext3,
    "ext4": _ext4,
    "xfs": _xfs,
    "btrfs": _btrfs,
}
