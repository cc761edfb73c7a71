"""The directory of a job."""

import json
import os
import re
import shutil
import signal
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from headrace.files import atomic_file
from headrace.web.jobs.job import Job, Moment, Progress, RefusedRequest
from headrace.web.jobs.runner import LOCK, TEMPORARY, boot, lock, process_start

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")
"""Names of files that a request may give."""
LINKS = "uploads"
"""Folder with the uploads that the job reads."""
CONFINEMENT = "confinement.json"
"""The files that the job's process may open."""
OWN = frozenset(
    {"job.json", "order.json", "process.json", "end.json", "document.json", "log.txt"}
    | {"progress.jsonl", "result.json", LOCK, LINKS, TEMPORARY, CONFINEMENT}
)
"""Names that no file of a request may have."""
HIDDEN = frozenset({"order.json", "process.json", "end.json", "job.json", LOCK, CONFINEMENT})
"""Names of files that are the server's alone."""
LOG_TAIL = 64 * 1024
"""Bytes of a log that are shown."""
REMOVED = ".removed-"
"""How the name of a directory begins that is being removed."""
Content = TypeVar("Content")


class Order(msgspec.Struct, frozen=True):
    """The order of the runner (`order.json`)."""

    command: tuple[str, ...]
    memory: int
    """Bytes of address space."""
    seconds: float
    """Time from start to end."""


class End(msgspec.Struct, frozen=True):
    """The end of a command, as the runner leaves it (`end.json`)."""

    status: int
    """Exit status; negative for the signal that ended the command."""
    ended: Moment
    reason: str = ""
    """Why the runner ended the command; empty if it did not."""
    error: str = ""
    """Why the command could not be started."""


class ProcessName(msgspec.Struct, frozen=True):
    """A process, also after its number is used again."""

    pid: int
    start: str | None

    @property
    def is_alive(self) -> bool:
        """True if the process runs."""
        return self.start is not None and process_start(self.pid) == self.start


class ProcessNames(msgspec.Struct, frozen=True):
    """The processes of a job (`process.json`)."""

    boot: str
    runner: ProcessName
    command: ProcessName | None = None


class Processes(msgspec.Struct, frozen=True):
    """The processes of a job that are alive."""

    begun: bool
    """Whether the runner has begun."""
    runner: bool
    command: int | None
    """Process of the command, which leads its group; None if it is gone."""


class JobFile(msgspec.Struct, frozen=True):
    """A file of a job."""

    name: str
    """Path below the job's directory."""
    bytes: int


class JobDirectory:
    """Files of a job."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, job: Job) -> None:
        """Write the job's record."""
        with atomic_file(self.path / "job.json") as partial:
            partial.write_bytes(msgspec.json.encode(job))

    def load(self) -> Job:
        """Read the job's record. Raises OSError or msgspec.MsgspecError."""
        return msgspec.json.decode((self.path / "job.json").read_bytes(), type=Job)

    def write_input(self, name: str, text: str) -> None:
        """Write a file of the request."""
        if not NAME.fullmatch(name) or name in OWN or name.endswith(".partial"):
            raise RefusedRequest(f"{name!r}: expected the name of a file, such as scenario.toml")
        (self.path / name).write_text(text, encoding="utf-8")

    def file(self, name: str) -> Path:
        """Return the path of a file below the directory, as `sweep/points.parquet`.

        Raises RefusedRequest for a name that leads elsewhere.
        """
        path = (self.path / name).resolve()
        if "\0" in name or not path.is_relative_to(self.path.resolve()):
            raise RefusedRequest(f"{name}: no such file of this job")
        return path

    def files(self) -> list[JobFile]:
        """Return the files that a user may have, by name."""
        files = []
        for folder, _, names in os.walk(self.path):
            for name in names:
                path = Path(folder) / name
                relative = path.relative_to(self.path).as_posix()
                if relative in HIDDEN or relative.endswith(".partial"):
                    continue
                # Uploads are their owner's alone.
                if relative.startswith((f"{LINKS}/", f"{TEMPORARY}/")):
                    continue
                with suppress(OSError):
                    about = path.lstat()
                    # No symbolic links, pipes and the like.
                    if stat.S_ISREG(about.st_mode):
                        files.append(JobFile(relative, about.st_size))
        return sorted(files, key=lambda file: file.name)

    def download(self, name: str) -> Path:
        """Return the path of a file that a user may have. Raises RefusedRequest if it is none."""
        if all(file.name != name for file in self.files()):
            raise RefusedRequest(f"{name}: no such file of this job")
        return self.file(name)

    def end(self) -> End | None:
        """Return what the runner left at the end; None if that is missing or damaged."""
        return self._typed("end.json", End)

    def order(self) -> Order | None:
        """Return the order of the runner; None if it is missing or damaged."""
        return self._typed("order.json", Order)

    def processes(self) -> Processes:
        """Return which processes of the job are alive."""
        # The runner may write the file at any moment: one that comes later is not damaged.
        begun = (self.path / "process.json").exists()
        names = self._typed("process.json", ProcessNames)
        if names is None:
            return Processes(begun, False, None)
        if names.boot != boot():
            return Processes(True, False, None)
        command = names.command
        return Processes(
            True,
            names.runner.is_alive,
            command.pid if command is not None and command.is_alive else None,
        )

    def cancel(self) -> None:
        """Ask the runner to end the command."""
        names = self._typed("process.json", ProcessNames)
        if names is not None and names.boot == boot() and names.runner.is_alive:
            with suppress(ProcessLookupError):
                os.kill(names.runner.pid, signal.SIGTERM)

    def never_began(self) -> bool:
        """Return true if no runner has begun, and none that comes later will."""
        held = lock(self.path)
        if held is None:
            return False
        try:
            return not (self.path / "process.json").exists()
        finally:
            os.close(held)

    def document(self) -> Any:
        """Return the JSON document that the command printed, or saved with its tables as
        `result.json`; None if there is none."""
        return self._json("result.json") or self._json("document.json")

    def log(self) -> str:
        """Return the end of the log."""
        try:
            with (self.path / "log.txt").open("rb") as log:
                log.seek(max(0, log.seek(0, 2) - LOG_TAIL))
                return log.read().decode(errors="replace")
        except OSError:
            return ""

    def progress(self, skip: int = 0) -> Iterator[Progress]:
        """Yield the progress, from the line number `skip` on."""
        for number, progress in self.numbered_progress():
            if number >= skip:
                yield progress

    def numbered_progress(self) -> Iterator[tuple[int, Progress]]:
        """Yield the lines of the progress with their numbers, from 0, without damaged ones."""
        yield from self.progress_reader().read()

    def progress_reader(self) -> "ProgressReader":
        """Return a reader of the progress."""
        return ProgressReader(self.path / "progress.jsonl")

    def remove(self) -> None:
        """Remove the directory. After an interruption `remove_rests` removes what is left."""
        gone = self.path.with_name(REMOVED + self.path.name)
        with suppress(FileNotFoundError):
            self.path.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def _json(self, name: str) -> Any:
        try:
            return json.loads((self.path / name).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None

    def _typed(self, name: str, type_: type[Content]) -> Content | None:
        try:
            return msgspec.json.decode((self.path / name).read_bytes(), type=type_)
        except (OSError, msgspec.MsgspecError):
            return None


class ProgressReader:
    """Reads the lines of a progress file that are new."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self.lines = 0
        """Number of complete lines read so far."""

    def read(self) -> list[tuple[int, Progress]]:
        """Return the new lines with their numbers, from 0. Damaged lines are left out."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                text = file.read()
        except OSError:
            return []
        matches = []
        for line in text.splitlines(keepends=True):
            # A line without its end is being written.
            if not line.endswith(b"\n"):
                break
            self._offset += len(line)
            with suppress(msgspec.MsgspecError):
                matches.append((self.lines, msgspec.json.decode(line, type=Progress)))
            self.lines += 1
        return matches


def remove_rests(directory: Path) -> None:
    """Remove what interrupted removals left in the directory of all jobs."""
    for path in directory.glob(REMOVED + "*"):
        shutil.rmtree(path, ignore_errors=True)
