"""Traces that users upload or jobs capture, and scenarios that replay them."""

from pathlib import Path

import msgspec

from headrace.web.jobs import RefusedRequest
from headrace.web.jobs.directory import NAME
from headrace.web.site import Site

SYSTEMS = ("ext4", "ext3", "xfs", "nfs", "pvfs2", "lustre", "glusterfs", "hdfs")
"""Presets of systems that a replay offers first."""


class UploadedTrace(msgspec.Struct, frozen=True):
    """A file that a user uploaded."""

    name: str
    bytes: int
    modified: float
    """Seconds since the epoch."""


def uploaded(site: Site, owner: str) -> list[UploadedTrace]:
    """Return the files that a user uploaded, the newest first."""
    try:
        found = [
            UploadedTrace(it.name, it.stat().st_size, it.stat().st_mtime)
            for it in site.paths.uploads(owner).iterdir()
            if it.is_file() and NAME.fullmatch(it.name)
        ]
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda it: -it.modified)


def path_for_upload(site: Site, owner: str, name: str) -> Path:
    """Return the path for a new file of a user, whose directory it makes.

    Raises:
        RefusedRequest: if the name is none that a file may have.
    """
    if not NAME.fullmatch(name):
        raise RefusedRequest(
            f"{name!r}: expected a name of letters, digits, dots, hyphens and underscores"
        )
    directory = site.paths.uploads(owner)
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    return directory / name


def replay_scenario(trace: Path, name: str, system: str, replay: str = "closed") -> str:
    """Return a scenario that replays a trace on a system.

    Parameters:
        trace: Absolute path of the trace.
        name: Name of the scenario.
        system: A preset of a system.
        replay: `closed`, `timed` or `paced`.
    """

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    return "\n".join(
        [
            f"name = {quoted(f'replay of {name}')}",
            f"system = {quoted(system)}",
            "",
            "[clients]",
            "count = 1",
            "",
            "[[workload]]",
            'kind = "trace"',
            f"file = {quoted(str(trace))}",
            f"replay = {quoted(replay)}",
            "",
        ]
    )
