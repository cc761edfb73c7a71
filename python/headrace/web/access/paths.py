"""Which files of the host a job may read and write."""

from pathlib import Path

from headrace.web.jobs.directory import NAME, JobDirectory
from headrace.web.jobs.forms import FormField
from headrace.web.jobs.job import RefusedRequest
from headrace.web.settings import Settings


class PathPolicy:
    """Gives the paths that values of requests stand for."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def uploads(self, owner: str) -> Path:
        """Return the directory of a user's uploaded files."""
        return self._settings.data / "uploads" / owner

    def path_of(self, value: str, field: FormField, directory: JobDirectory) -> Path | str:
        """Return the path that a value stands for. See `JobRequest` for the forms.

        Raises:
            RefusedRequest: if it is no file or directory that the operator allows.
        """
        kind, _, rest = value.partition(":")
        if kind == "results":
            return value
        if kind == "input" and NAME.fullmatch(rest):
            return directory.file(rest)
        if kind == "job":
            job, _, name = rest.partition("/")
            if NAME.fullmatch(job):
                return JobDirectory(directory.path.parent / job).file(name)
        if kind == "upload":
            owner, _, name = rest.partition("/")
            if NAME.fullmatch(owner) and NAME.fullmatch(name):
                return self.uploads(owner) / name
        return self.allowed(value, field.name)

    def allowed(self, value: str, name: str) -> Path:
        """Return a path below one of the operator's directories. Raises RefusedRequest."""
        path = Path(value)
        if not path.is_absolute():
            raise RefusedRequest(f"{name} = {value!r}: expected an absolute path", name)
        resolved = path.resolve()
        for directory in self._settings.directories:
            if resolved.is_relative_to(directory.resolve()):
                return resolved
        allowed = ", ".join(str(it) for it in self._settings.directories) or "none"
        raise RefusedRequest(
            f"{name} = {value!r}: expected a path below a directory that the operator allows"
            f" (headrace serve --directory): {allowed}",
            name,
        )
