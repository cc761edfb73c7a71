"""The directory of a job."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from headrace.files import atomic_file
from headrace.web.jobs.job import Job, Progress, RefusedRequest
from headrace.web.jobs.runner import process_start

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")
"""Names of files that a request may give."""
LINKS = "uploads"
"""Folder with the uploads that the job reads."""
OWN = frozenset(
    {
        "job.json",
        "order.json",
        "process.json",
        "end.json",
        "document.json",
        "result.json",
        "log.txt",
        "progress.jsonl",
        LINKS,
    }
)
"""Names that no file of a request may have."""
LOG_TAIL = 64 * 1024
"""Bytes of a log that are shown."""


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
        if not NAME.fullmatch(name) or name in OWN:
            raise RefusedRequest(f"{name!r}: expected the name of a file, such as scenario.toml")
        (self.path / name).write_text(text, encoding="utf-8")

    def file(self, name: str) -> Path:
        """Return the path of a file below the directory, as `sweep/points.parquet`.

        Raises RefusedRequest for a name that leads elsewhere.
        """
        path = (self.path / name).resolve()
        if not path.is_relative_to(self.path.resolve()):
            raise RefusedRequest(f"{name}: no such file of this job")
        return path

    def end(self) -> dict[str, Any] | None:
        """Return what the runner left at the end."""
        end: dict[str, Any] | None = self._json("end.json")
        return end

    def runs(self) -> bool:
        """Whether the runner or the command is alive."""
        names = self._json("process.json")
        return names is not None and any(
            process_start(it["pid"]) == it["start"] for it in (names, names["command"])
        )

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
        try:
            lines = (self.path / "progress.jsonl").read_bytes().splitlines(keepends=True)
        except OSError:
            return
        for line in lines[skip:]:
            # A line without its end is being written.
            if line.endswith(b"\n"):
                yield msgspec.json.decode(line, type=Progress)

    def _json(self, name: str) -> Any:
        try:
            return json.loads((self.path / name).read_bytes())
        except (OSError, ValueError):
            return None
