"""Files of the host that a job may read and write.

A value of a request has the origin of a file (`input:`, `upload:`, `job:`, `results:`, `output:`),
or is an absolute path. That must be below a directory that the operator allows. The path is
resolved when the job is ordered; the job gets the resolved path. An upload is linked into the job's
directory, so that the job reads what was checked.

Not covered: another program of the host may exchange what lies below an allowed directory between
the check and the job.
"""

import errno
import os
import re
import shutil
from pathlib import Path

from headrace.web.access.scenario_files import ScenarioFiles, is_inside, texts_of_setting
from headrace.web.jobs.directory import LINKS, NAME, OWN, JobDirectory
from headrace.web.jobs.forms import CommandForm, FormField
from headrace.web.jobs.job import JobRequest, RefusedRequest
from headrace.web.settings import Settings

WRITTEN: dict[tuple[str, ...], set[str]] = {
    ("bench", "tune"): {"mix"},
    ("baseline",): {"save_machine"},
    ("trace", "convert"): {"target"},
}
"""Parameters that name a file which the command writes."""
JOBS_OR_DIRECTORY: dict[tuple[str, ...], str] = {("bench", "quick"): "paths"}
"""A job file and a directory to test, in one parameter."""
FILE_WORDS = frozenset({"FILE", "DIR", "TRACE", "RESULT", "MIX", "PATH"})
"""Words in the metavar of a text that may name a file."""
TESTS = frozenset({"bench", "baseline", "profile"})
"""Commands whose parameter `directory` is where they write files of their own; of a profile it is
where the program runs."""
SETTINGS = frozenset({"sets", "vary"})
"""Parameters that give values of a scenario, as PATH=VALUE."""
FIO = (".fio", ".job")
"""Endings of job files, which name no other files."""
MOST_SETTINGS = 200
PLAIN = re.compile(r"[A-Za-z0-9_-]{1,100}")
"""Names of presets and the like."""
STORED = re.compile(r"results:[0-9a-z]{1,40}")
VOLUME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
CGROUPS = Path("/sys/fs/cgroup")


class PathPolicy:
    """Decides which files of the host jobs may name."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def for_job(
        self, request: JobRequest, form: CommandForm, owner: str, directory: JobDirectory
    ) -> "JobPaths":
        """Return the paths of a job that is being ordered."""
        return JobPaths(self, request, form, owner, directory)

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
            allowed = ", ".join(str(it) for it in self.settings.directories) or "none"
            raise RefusedRequest(
                f"{name} = {value!r}: expected a path below a directory that the operator allows"
                f" (headrace serve --directory): {allowed}",
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
        form: CommandForm,
        owner: str,
        directory: JobDirectory,
    ) -> None:
        self._policy, self._request, self._form = policy, request, form
        self._owner, self._directory = owner, directory
        self._files = ScenarioFiles(self._may_read, self._link)
        self._folder = directory.path

    def path_of(self, value: str, field: FormField) -> Path | str:
        """Return the path or the text that the command gets for a value.

        Raises:
            RefusedRequest: if it names a file or program that the job may not use.
        """
        command, name = self._form.command, field.name
        if field.kind == "path" and name in WRITTEN.get(command, ()):
            return self._written(value, name)
        if name == "directory" and command[0] in TESTS and command != ("profile", "report"):
            return self._policy.allowed(value, name)
        if JOBS_OR_DIRECTORY.get(command) == name:
            if value.startswith(("input:", "upload:")):
                return self._read(value, name, document=False)
            return self._policy.allowed(value, name)
        if name == "profiler":
            return self._profiler(value)
        if name == "cgroup":
            return self._cgroup(value)
        if field.kind == "path":
            return self._read(value, name, document="FILE" in _words(field))
        if _words(field) & FILE_WORDS:
            return value if PLAIN.fullmatch(value) else self._read(value, name, document=True)
        return value

    def options(self) -> list[str]:
        """Check the files that scenarios of the job name, and return further options.

        Raises:
            RefusedRequest: if one of them is not allowed.
        """
        for name in SETTINGS:
            given = self._request.values.get(name) or []
            given = given if isinstance(given, list) else [given]
            if len(given) > MOST_SETTINGS:
                raise RefusedRequest(f"{name}: expected at most {MOST_SETTINGS} values", name)
            for text in given:
                for it in texts_of_setting(str(text), name):
                    self._files.check_text(it, self._folder, name)
                self._files.check_setting(str(text))
        if not self._files.python:
            return []
        if not self._policy.settings.schedulers:
            raise RefusedRequest(
                "a scenario names a scheduler or policy in Python, which is code: the operator"
                " allows it by headrace serve --allow-schedulers"
            )
        if self._form.field("trusted") is None:
            return []
        modules = [*self._directory.path.glob("*.py"), *self._folder_of_links().glob("*.py")]
        return [f"--trust={it}" for it in sorted(modules)]

    def _read(self, value: str, name: str, document: bool) -> Path | str:
        """Return the path of a file to read; check what a scenario or worksheet names in it."""
        kind, _, rest = value.partition(":")
        path: Path | str
        match kind:
            case "results":
                if not STORED.fullmatch(value):
                    raise RefusedRequest(f"{name} = {value!r}: expected results:ID", name)
                self._files.check_stored(value, self._directory.path)
                return value
            case "input":
                path = self._input(rest, name)
            case "upload":
                path = self._upload(rest, name)
            case "job":
                path = self._of_job(rest, name)
            case _:
                path = self._policy.allowed(value, name)
        if document and path.is_file() and not self._is_other(path):
            self._folder = path.parent
            self._files.check_file(path)
        return path

    def _is_other(self, path: Path) -> bool:
        """Return whether the command takes a file as something that names no other files: a job
        file of fio, or an archive of results."""
        if self._form.command == ("results", "import"):
            with path.open("rb") as file:
                return file.read(64).lstrip()[:1] != b"{"
        return self._form.command[0] == "bench" and path.suffix in FIO

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
        if not all(NAME.fullmatch(it) for it in (job, *parts)):
            raise refused
        if parts[0] in OWN - {"document.json"}:
            raise refused
        there = self._directory.path.parent / job
        path = _resolved(there.joinpath(*parts), name)
        if not path.exists() or not path.is_relative_to(there.resolve()):
            raise refused
        return path

    def _written(self, value: str, name: str) -> Path:
        """Return the path of a file to write: `output:NAME`, or one that the operator allows."""
        kind, _, rest = value.partition(":")
        if kind != "output":
            return self._policy.allowed(value, name)
        taken = OWN | self._request.inputs.keys()
        if not NAME.fullmatch(rest) or rest in taken:
            raise RefusedRequest(f"{name} = {value!r}: expected output:NAME of a new file", name)
        return self._directory.file(rest)

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

    def _may_read(self, path: Path) -> bool:
        return is_inside(path, (self._directory.path,)) or self._policy.is_allowed(path)

    def _folder_of_links(self) -> Path:
        return self._directory.path / LINKS

    def _link(self, name: str) -> Path | None:
        """Link an upload of the owner into the job's directory; None if there is none.

        The link stays if the upload is removed or replaced.
        """
        if not NAME.fullmatch(name):
            return None
        folder = self._folder_of_links()
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


def _words(field: FormField) -> set[str]:
    # PATH=VALUE is a path within a scenario.
    return set() if "=" in field.metavar else set(re.findall(r"[A-Z]+", field.metavar))


def _resolved(path: Path, name: str) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        raise RefusedRequest(f"{name}: {str(path)!r} is no path", name) from None
