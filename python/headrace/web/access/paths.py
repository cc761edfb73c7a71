"""Files of the host that a job may read and write.

A value of a request has the origin of a file (`input:`, `upload:`, `job:`, `results:`, `output:`).
Otherwise it is an absolute path below a directory that the operator allows. A name is resolved
once, when the job is ordered, and the job gets the resolved path.

The process that reads a document checks the files that its fields name. The kernel confines that
process to the files of the job, where it has Landlock.
"""

import errno
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from headrace.confined import KERNEL, Confinement
from headrace.store.location import Directory, location
from headrace.web.jobs.commands import Runnable
from headrace.web.jobs.directory import LINKS, NAME, OWN, JobDirectory
from headrace.web.jobs.forms import CommandForm, FormField
from headrace.web.jobs.job import JobRequest, RefusedRequest
from headrace.web.jobs.runner import TEMPORARY
from headrace.web.settings import Settings

WRITTEN: dict[tuple[str, ...], set[str]] = {
    ("bench", "tune"): {"mix"},
    ("baseline",): {"save_machine"},
    ("trace", "convert"): {"target"},
}
"""Parameters that name a file which the command writes."""
CHANGED: dict[tuple[str, ...], str] = {
    ("profile", "record"): "again",
    ("profile", "report"): "directory",
}
"""Parameters that name files of a job which the command writes into."""
JOBS_OR_DIRECTORY: dict[tuple[str, ...], str] = {("bench", "quick"): "paths"}
"""A job file and a directory to test, in one parameter."""
FILE_WORDS = frozenset({"FILE", "DIR", "TRACE", "RESULT", "MIX", "PATH"})
"""Words in the metavar of a text that may name a file."""
TESTS = frozenset({"bench", "baseline", "profile"})
"""Commands whose parameter `directory` is where they write files of their own; of a profile it is
where the program runs."""
PLAIN = re.compile(r"[A-Za-z0-9_-]{1,100}")
"""Names of presets and the like."""
STORED = re.compile(r"results:[0-9a-z]{1,40}")
VOLUME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
CGROUPS = Path("/sys/fs/cgroup")
LARGEST = 16 << 20
"""Bytes of an upload in which names of other uploads are looked for."""


class PathPolicy:
    """Decides which files of the host jobs may name."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def for_job(
        self,
        request: JobRequest,
        entry: Runnable,
        form: CommandForm,
        owner: str,
        directory: JobDirectory,
    ) -> "JobPaths":
        """Return the paths of a job that is being ordered."""
        return JobPaths(self, request, entry, form, owner, directory)

    def uploads(self, owner: str) -> Path:
        """Return the directory of a user's uploaded files."""
        return self.settings.data / "uploads" / owner

    def allowed(self, value: str, name: str) -> Path:
        """Return a path below one of the operator's directories. Raises RefusedRequest."""
        path = Path(value)
        if "\0" in value or not path.is_absolute():
            raise RefusedRequest(f"{name} = {value!r}: expected an absolute path", name)
        resolved = _resolved(path, name)
        if not self.is_allowed(resolved):
            allowed = ", ".join(str(directory) for directory in self.settings.directories) or "none"
            raise RefusedRequest(
                f"{name} = {value!r}: expected a path below a directory that the operator allows"
                f" (headrace serve --allow-directory): {allowed}",
                name,
            )
        return resolved

    def is_allowed(self, resolved: Path) -> bool:
        """Return whether a resolved path is below a directory of the operator, and not in the data
        of the server."""
        return is_inside(resolved, self.settings.directories) and not is_inside(
            resolved, (self.settings.data,)
        )


class JobPaths:
    """Paths of a job that is being ordered."""

    def __init__(
        self,
        policy: PathPolicy,
        request: JobRequest,
        entry: Runnable,
        form: CommandForm,
        owner: str,
        directory: JobDirectory,
    ) -> None:
        self._policy, self._request, self._entry, self._form = policy, request, entry, form
        self._owner, self._directory = owner, directory
        self._readable: list[Path] = []
        self._writable: list[Path] = []
        self._link_named(
            [
                *(text.encode() for text in request.inputs.values()),
                *(str(value).encode(errors="replace") for value in request.values.values()),
            ]
        )

    def path_of(self, value: str, field: FormField) -> Path | str:
        """Return the path or the text that the command gets for a value.

        Raises:
            RefusedRequest: if it names a file or program that the job may not use.
        """
        command, name = self._form.command, field.name
        if field.kind == "path" and name in WRITTEN.get(command, ()):
            return self._output(value, name)
        if CHANGED.get(command) == name:
            return self._changed(value, name)
        if "HOST" in _words(field):
            return self._host(value, name)
        if name == "directory" and command[0] in TESTS:
            return self._tested(value, name)
        if JOBS_OR_DIRECTORY.get(command) == name:
            if value.startswith(("input:", "upload:")):
                return self._read(value, name)
            return self._tested(value, name)
        if name == "profiler":
            return self._profiler(value)
        if name == "cgroup":
            return self._cgroup(value)
        if field.kind == "path":
            return self._read(value, name)
        if _words(field) & FILE_WORDS:
            return value if PLAIN.fullmatch(value) else self._read(value, name)
        return value

    def confinement(self) -> Confinement:
        """Return the files that the job's process may open, once all its values have paths."""
        settings, own = self._policy.settings, self._directory.path
        writable = [own, *self._writable]
        if isinstance(store := location(), Directory):
            # Its process could not make it.
            store.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            writable.append(store.path)
        if self._entry.measures:
            writable += map(Path, KERNEL)
        readable = (*settings.directories, *self._readable)
        return Confinement(
            readable=tuple(map(str, readable)),
            writable=tuple(map(str, writable)),
            documents=tuple(map(str, (own, *readable))),
            temporary=str(own / TEMPORARY),
            code=settings.schedulers,
            is_enforced=self._entry.is_confined,
        )

    def options(self) -> list[str]:
        """Return further options of the command: the files of code that the job brings."""
        if not self._policy.settings.schedulers or self._form.field("trusted") is None:
            return []
        folders = (self._directory.path, self._directory.path / LINKS)
        return [f"--trust={path}" for folder in folders for path in sorted(folder.glob("*.py"))]

    def _read(self, value: str, name: str) -> Path | str:
        """Return the path of a file to read, or the name of a result in the store."""
        kind, _, rest = value.partition(":")
        match kind:
            case "results":
                return self._stored(value, name)
            case "input":
                return self._input(rest, name)
            case "upload":
                return self._upload(rest, name)
            case "job":
                path = self._of_job(rest, name)
                self._readable.append(path)
                return path
            case _:
                return self._policy.allowed(value, name)

    def _stored(self, value: str, name: str) -> str:
        """Return the full name of a result: a word such as `last` may mean another one later."""
        from headrace.simulate.stored_results import PREFIX, stored_record
        from headrace.store import StoreError, StoreFailure

        if not STORED.fullmatch(value):
            raise RefusedRequest(f"{name} = {value!r}: expected results:ID", name)
        try:
            return f"{PREFIX}{stored_record(value).id}"
        except (StoreError, StoreFailure, OSError) as error:
            raise RefusedRequest(f"{name} = {value!r}: {error}", name) from None

    def _input(self, rest: str, name: str) -> Path:
        if rest not in self._request.inputs or not NAME.fullmatch(rest):
            raise RefusedRequest(f"{name} = 'input:{rest}': there is no such input", name)
        return self._directory.file(rest)

    def _upload(self, rest: str, name: str) -> Path:
        owner, slash, file = rest.rpartition("/")
        if (slash and owner != self._owner) or not NAME.fullmatch(file):
            raise RefusedRequest(f"{name} = 'upload:{rest}': expected a file of your own", name)
        linked = self._link(file)
        if linked is None:
            raise RefusedRequest(f"{name} = 'upload:{rest}': there is no such upload", name)
        return linked

    def _of_job(self, rest: str, name: str) -> Path:
        refused = RefusedRequest(f"{name} = 'job:{rest}': there is no such file of a job", name)
        job, _, file = rest.partition("/")
        parts = file.split("/")
        if not all(NAME.fullmatch(part) for part in (job, *parts)):
            raise refused
        if parts[0] in OWN - {"document.json"}:
            raise refused
        there = self._directory.path.parent / job
        path = _resolved(there.joinpath(*parts), name)
        if not path.exists() or not path.is_relative_to(there.resolve()):
            raise refused
        return path

    def _changed(self, value: str, name: str) -> Path:
        """Return the path of files of a job of the user's own, which the command writes into."""
        kind, _, rest = value.partition(":")
        if kind != "job":
            raise RefusedRequest(f"{name} = {value!r}: expected job:ID/NAME of your own", name)
        path = self._of_job(rest, name)
        job = JobDirectory(self._directory.path.parent / rest.partition("/")[0])
        try:
            own = job.load().owner == self._owner
        except (OSError, ValueError):
            own = False
        if not own:
            raise RefusedRequest(f"{name} = {value!r}: expected a job of your own", name)
        self._writable.append(path)
        return path

    def _output(self, value: str, name: str) -> Path:
        """Return the path of a new file in the job's directory."""
        kind, _, rest = value.partition(":")
        taken = OWN | self._request.inputs.keys()
        if kind != "output" or not NAME.fullmatch(rest) or rest in taken:
            raise RefusedRequest(f"{name} = {value!r}: expected output:NAME of a new file", name)
        return self._directory.file(rest)

    def _tested(self, value: str, name: str) -> Path:
        path = self._policy.allowed(value, name)
        self._writable.append(path)
        return path

    def _host(self, value: str, name: str) -> str:
        peers = self._policy.settings.peers
        if value not in peers:
            raise RefusedRequest(
                f"{name} = {value!r}: expected a host that the operator allows"
                f" (headrace serve --allow-peer): {', '.join(peers) or 'none'}",
                name,
            )
        return value

    def _profiler(self, value: str) -> str:
        kind, _, rest = value.partition(":")
        if kind == "command" and not self._policy.settings.programs:
            raise RefusedRequest(
                "profiler command:… runs a program: the operator allows it by headrace serve"
                " --allow-programs",
                "profiler",
            )
        if kind != "command" and rest and not VOLUME.fullmatch(rest):
            raise RefusedRequest(f"profiler = {value!r}: expected a name after {kind}:", "profiler")
        return value

    def _cgroup(self, value: str) -> Path:
        path = _resolved(Path(value), "cgroup")
        if not path.is_relative_to(CGROUPS):
            raise RefusedRequest(f"cgroup = {value!r}: expected a path below {CGROUPS}", "cgroup")
        return path

    def _link_named(self, texts: list[bytes]) -> None:
        """Link the user's uploads whose names occur in texts, and in uploads that are linked.

        This gives access to nothing but the user's own files: a name that merely occurs does no
        harm.
        """
        folder = self._policy.uploads(self._owner)
        unlinked = {path.name for path in folder.iterdir()} if texts and folder.is_dir() else set()
        while texts and unlinked:
            text = texts.pop()
            for name in sorted(unlinked):
                # A class names its file without the ending.
                if name.removesuffix(".py").encode() not in text:
                    continue
                unlinked.discard(name)
                linked = self._link(name)
                if linked is not None and linked.stat().st_size <= LARGEST:
                    texts.append(linked.read_bytes())

    def _link(self, name: str) -> Path | None:
        """Link an upload of the owner into the job's directory; None if there is none.

        The link stays if the upload is removed or replaced.
        """
        if not NAME.fullmatch(name):
            return None
        folder = self._directory.path / LINKS
        upload, linked = self._policy.uploads(self._owner) / name, folder / name
        if linked.exists():
            return linked
        if upload.is_symlink() or not upload.is_file():
            return None
        folder.mkdir(exist_ok=True, mode=0o700)
        try:
            os.link(upload, linked, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            shutil.copyfile(upload, linked, follow_symlinks=False)
        return linked


def is_inside(path: Path, directories: Iterable[Path]) -> bool:
    """Return whether a resolved path is a directory or below one."""
    return any(path.is_relative_to(directory.resolve()) for directory in directories)


def _words(field: FormField) -> set[str]:
    # PATH=VALUE is a path within a scenario.
    return set() if "=" in field.metavar else set(re.findall(r"[A-Z]+", field.metavar))


def _resolved(path: Path, name: str) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        raise RefusedRequest(f"{name}: {str(path)!r} is no path", name) from None
