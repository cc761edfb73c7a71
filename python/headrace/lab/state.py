"""A testbed's own folder: its plan, and the journal of all that was done for it."""

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from headrace import _core
from headrace._core import RunError
from headrace.lab.plan import Plan
from headrace.mountinfo import mounted

LABS = Path("/var/lib/headrace/labs")
"""Folders of all testbeds; it outlasts a restart of the machine, as the disks' files do."""

LONGEST_NAME = 40
FIRST = b'{"lab": '
"""How a journal begins."""


def name_of(file: str | os.PathLike[str], given: str | None = None) -> str:
    """What the testbed of a scenario file is called: as the file, unless a name is given.

    Raises ValueError if that is no name.
    """
    name = given if given is not None else re.sub(r"[^a-z0-9]+", "-", Path(file).stem.lower())
    if given is None:
        name = name.strip("-")[:LONGEST_NAME]
    if not re.fullmatch(rf"[a-z0-9][a-z0-9-]{{0,{LONGEST_NAME - 1}}}", name):
        raise ValueError(
            f"--name {name!r}: expected at most {LONGEST_NAME} of a-z, 0-9 and -, as a folder has"
        )
    return name


@dataclass(frozen=True)
class Lab:
    """A testbed that is up, or of which something is left."""

    name: str
    token: str
    """What all its processes have in their environment, and no others."""
    boot: str
    """When the machine was started, by a name of the kernel's: devices do not outlast that."""

    @property
    def same_boot(self) -> bool:
        """Whether the machine has not been restarted since."""
        return self.boot == this_boot()

    @property
    def folder(self) -> Path:
        """Its own."""
        return LABS / self.name

    @property
    def mount_point(self) -> Path:
        """Where every client has the file system."""
        return self.folder / "mount"

    def images(self, plan: Plan) -> Path:
        """Where the files of its disks are."""
        if plan.directory is None:
            return self.folder / "images"
        return Path(plan.directory) / f"headrace-lab-{self.name}-{self.token}"

    def plan(self) -> Plan:
        """Its hosts, links and disks. Raises RunError if it was left before there was a plan."""
        try:
            document = json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RunError(f"{self.name}: it was left half made: headrace lab down") from None
        return Plan.from_json(document)

    def write(self, what: dict[str, Any]) -> None:
        """A line of the journal, on the disk before anything is done."""
        with (self.folder / "journal").open("a", encoding="utf-8") as file:
            file.write(json.dumps(what) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def journal(self) -> list[dict[str, Any]]:
        """What was done, or begun: the last line may be half written."""
        lines = (self.folder / "journal").read_text(encoding="utf-8").split("\n")[1:]
        return [json.loads(line) for line in lines[:-1]]

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Nobody else makes or takes down this testbed meanwhile. Raises RunError if somebody
        does."""
        with (self.folder / "journal").open("rb") as file:
            _lock(file, self.name)
            yield


def _lock(file: IO[bytes], name: str) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RunError(f"{name}: another headrace lab is at work on it") from None


def create(name: str) -> Lab:
    """A new one, with nothing in it.

    Raises ValueError if there is one of this name.
    """
    while True:
        LABS.mkdir(parents=True, exist_ok=True)
        try:
            os.close(_core.open_directory(LABS, strictly=True))
            (LABS / name).mkdir(mode=0o755)
            break
        except FileExistsError:
            raise ValueError(
                f"{name}: it is up, or something of it is left: headrace lab down FILE, or another"
                " --name"
            ) from None
        except FileNotFoundError:
            # The last testbed that went has removed the folder above meanwhile.
            continue
    lab = Lab(name, secrets.token_hex(8), this_boot())
    lab.write({"lab": name, "token": lab.token, "boot": lab.boot})
    return lab


def this_boot() -> str:
    """A name that the kernel gives to each start of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def find(name: str) -> Lab | None:
    """The one of this name; None if there is none."""
    folder = LABS / name
    if not folder.is_dir():
        return None
    try:
        first = json.loads((folder / "journal").read_text(encoding="utf-8").split("\n")[0])
        return Lab(name, first["token"], first["boot"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        # Left before the first line was written: nothing has been done.
        return Lab(name, "", "")


def existing(name: str) -> Lab:
    """As `find`. Raises ValueError if there is none."""
    lab = find(name)
    if lab is None:
        raise ValueError(f"{name}: no such testbed is up: headrace lab up FILE")
    return lab


def remove_empty(lab: Lab) -> None:
    """The folder of one that was left before anything was done. Raises RunError if something else
    is in it."""
    journal = lab.folder / "journal"
    with contextlib.suppress(FileNotFoundError):
        text = journal.read_bytes()
        if not text.startswith(FIRST[: len(text)]) or b"\n" in text:
            raise RunError(f"{journal}: this is no testbed's: expected its first line")
        journal.unlink()
    try:
        lab.folder.rmdir()
    except OSError as error:
        raise RunError(f"{lab.folder}: this is no testbed: {error.strerror}") from None
    remove_above()


def remove(lab: Lab) -> None:
    """Its folder, the journal last: until then it can be taken down once more. Raises RunError,
    and removes nothing, if something is mounted there."""
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
    """The folders above all testbeds', if nothing is in them."""
    for folder in (LABS, LABS.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()


def refuse_mounts(folder: Path) -> None:
    """Raises RunError if something is mounted on a folder or below it."""
    real = Path(os.path.realpath(folder))
    for it in mounted():
        if it.at.is_relative_to(real):
            raise RunError(f"{it.at}: something is mounted there: unmount it first")
