"""Directory of a testbed: its plan, and the journal of all steps."""

import contextlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from headrace import _core
from headrace._core import RunError
from headrace.lab.plan import Plan
from headrace.locks import try_lock
from headrace.mountinfo import mounted

LABS = Path("/var/lib/headrace/labs")
"""Directories of all testbeds. They persist across reboots, like the disks' images."""

LONGEST_NAME = 40
FIRST = b'{"lab": '
"""Start of every journal."""


class FirstLine(msgspec.Struct, frozen=True):
    """The first line of a journal."""

    lab: str
    """Name of the testbed."""
    token: str
    boot: str
    """Boot identifier at its start."""


def name_of(file: str | os.PathLike[str], given: str | None = None) -> str:
    """Return the name of a scenario's testbed: `given`, or one derived from the file name.

    Raises
    ------
    ValueError
        If `given` is not a valid name.
    """
    name = given if given is not None else re.sub(r"[^a-z0-9]+", "-", Path(file).stem.lower())
    if given is None:
        name = name.strip("-")[:LONGEST_NAME]
    if not re.fullmatch(rf"[a-z0-9][a-z0-9-]{{0,{LONGEST_NAME - 1}}}", name):
        raise ValueError(
            f"--name {name!r}: expected 1 to {LONGEST_NAME} characters of a-z, 0-9 and -"
        )
    return name


@dataclass(frozen=True)
class Lab:
    """A testbed that is running, or of which something is left."""

    name: str
    token: str
    """Unique value in the environment of all its processes."""
    boot: str
    """Boot identifier at its start; devices do not persist across reboots."""

    @property
    def same_boot(self) -> bool:
        """True if the machine has not been rebooted since the start."""
        return self.boot == this_boot()

    @property
    def folder(self) -> Path:
        """Directory of the testbed."""
        return LABS / self.name

    @property
    def mount_point(self) -> Path:
        """Mount point of the file system on every client."""
        return self.folder / "mount"

    def images(self, plan: Plan) -> Path:
        """Return the directory of the disks' images."""
        if plan.directory is None:
            return self.folder / "images"
        return Path(plan.directory) / f"headrace-lab-{self.name}-{self.token}"

    def plan(self) -> Plan:
        """Return the plan.

        Raises
        ------
        RunError
            If setup was interrupted before the plan was saved, or the file is damaged.
        """
        file = self.folder / "plan.json"
        try:
            return Plan.from_json(json.loads(file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise RunError(f"{self.name}: setup was interrupted; run headrace lab down") from None
        except ValueError as error:
            raise RunError(
                f"{file}: expected the plan of a testbed: {error}; run headrace lab down"
            ) from None

    def write(self, values: Mapping[str, object]) -> None:
        """Append a line to the journal, and flush it to the disk."""
        with (self.folder / "journal").open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def journal(self) -> list[str]:
        """Return the lines of all steps that were started. An incomplete last one is ignored."""
        lines = (self.folder / "journal").read_text(encoding="utf-8").split("\n")[1:]
        return lines[:-1]

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Lock the testbed against other processes for the duration of a `with` block.

        Raises
        ------
        RunError
            If another process holds the lock.
        """
        with (self.folder / "journal").open("rb") as file:
            _lock(file, self.name)
            yield


def _lock(file: IO[bytes], name: str) -> None:
    if not try_lock(file):
        raise RunError(
            f"{name}: another headrace lab command is using this testbed: wait until it ends"
        )


def create(name: str) -> Lab:
    """Create the directory and journal of a new testbed.

    Raises
    ------
    ValueError
        If a testbed of this name exists.
    """
    while True:
        LABS.mkdir(parents=True, exist_ok=True)
        try:
            os.close(_core.open_directory(LABS, strictly=True))
            (LABS / name).mkdir(mode=0o755)
            break
        except FileExistsError:
            raise ValueError(
                f"{name}: a testbed of this name exists: run"
                " headrace lab down FILE, or choose another --name"
            ) from None
        except FileNotFoundError:
            # Another process has removed the parent with its last testbed.
            continue
    lab = Lab(name, secrets.token_hex(8), this_boot())
    lab.write(msgspec.structs.asdict(FirstLine(name, lab.token, lab.boot)))
    return lab


def this_boot() -> str:
    """Return the boot identifier of the kernel."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def find(name: str) -> Lab | None:
    """Return the testbed of a name; None if there is none."""
    folder = LABS / name
    if not folder.is_dir():
        return None
    try:
        text = (folder / "journal").read_text(encoding="utf-8")
        first = msgspec.json.decode(text.split("\n")[0], type=FirstLine)
        return Lab(name, first.token, first.boot)
    except (FileNotFoundError, ValueError):
        # Setup was interrupted before the first line: nothing has been done.
        return Lab(name, "", "")


def existing(name: str) -> Lab:
    """Return the testbed of a name.

    Raises
    ------
    ValueError
        If there is none.
    """
    lab = find(name)
    if lab is None:
        raise ValueError(f"{name}: no testbed of this name is up: run headrace lab up FILE")
    return lab


def remove_empty(lab: Lab) -> None:
    """Remove the directory of a testbed whose setup was interrupted before the first step.

    Raises
    ------
    RunError
        If the directory has other contents.
    """
    journal = lab.folder / "journal"
    with contextlib.suppress(FileNotFoundError):
        text = journal.read_bytes()
        if not text.startswith(FIRST[: len(text)]) or b"\n" in text:
            raise RunError(
                f"{journal}: not the journal of a testbed: its first line is missing or unknown:"
                " give another --name, or remove the file"
            )
        journal.unlink()
    try:
        lab.folder.rmdir()
    except OSError as error:
        raise RunError(
            f"{lab.folder}: not a testbed, cannot be removed: {error.strerror}"
        ) from None
    remove_above()


def remove(lab: Lab) -> None:
    """Remove the directory of a testbed, the journal last, so that an interruption can be repeated.

    Raises
    ------
    RunError
        If something is mounted there; nothing is then removed.
    """
    refuse_mounts(lab.folder)
    for path in lab.folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != "journal":
            path.unlink()
    (lab.folder / "journal").unlink()
    lab.folder.rmdir()
    remove_above()


def remove_above() -> None:
    """Remove the parent directories of all testbeds if they are empty."""
    for folder in (LABS, LABS.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()


def refuse_mounts(folder: Path) -> None:
    """Check that nothing is mounted on a directory or below it.

    Raises
    ------
    RunError
        If something is.
    """
    real = Path(os.path.realpath(folder))
    for mount in mounted():
        if mount.at.is_relative_to(real):
            raise RunError(f"{mount.at}: a file system is mounted here: unmount it first")
