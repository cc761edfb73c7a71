"""Run programs inside the hosts of a testbed."""

import os
import shlex
import subprocess
from pathlib import Path

from headrace._core import RunError
from headrace.lab import cgroups, processes, programs
from headrace.lab.plan import Disk
from headrace.lab.state import Lab

PATIENCE_S = 1.0
"""Longest wait for a host's holder process, in seconds."""

INSIDE = """
if [ -n "$1" ]; then echo $$ > "$1/cgroup.procs" || exit 125; fi
cd "$2" 2> /dev/null || cd /
shift 2
exec "$@"
"""
"""Runs in the namespaces: joins the host's control group and enters the caller's directory."""


class Hosts:
    """The hosts of a running testbed."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self._holders: dict[str, int] = {}

    @property
    def mount_point(self) -> Path:
        """Mount point of the file system on clients."""
        return self.lab.mount_point

    def disk(self, disk: Disk) -> Path:
        """Return the mount point of a disk in its host."""
        return self.lab.folder / disk.name

    def own_folder(self, host: str) -> Path:
        """Return the directory for the files of a host's programs, and create it."""
        folder = self.lab.folder / host
        folder.mkdir(exist_ok=True)
        return folder

    def command(self, host: str, *words: str | Path) -> list[str]:
        """Return the command line that runs a program in a host.

        Raises
        ------
        RunError
            If the host is down.
        """
        group = cgroups.of_host(self.lab.name, host)
        there = "" if group is None or not group.exists() else str(group)
        marks = [f"{key}={value}" for key, value in processes.marks(self.lab, host).items()]
        enter = ["nsenter", "-t", str(self.holder(host)), "--net", "--uts", "--ipc", "--mount"]
        inside = ["sh", "-c", INSIDE, "headrace-lab", there, os.getcwd()]
        return ["env", *marks, *enter, *inside, *map(str, words)]

    def run(self, host: str, *words: str | Path) -> str:
        """Run a program until it exits, and return its standard output.

        Raises
        ------
        RunError
            If it fails.
        """
        done = self._started(host, *words)
        if done.returncode != 0:
            said = programs.last_words(done)
            raise RunError(f"{host}: {shlex.join(map(str, words))}: {said}")
        return done.stdout

    def succeeds(self, host: str, *words: str | Path) -> bool:
        """Run a program until it exits; return True if its exit status is 0."""
        return self._started(host, *words).returncode == 0

    def start(self, host: str, *words: str | Path) -> None:
        """Start a daemon. Its output goes to a log in the host's directory."""
        log = self.own_folder(host) / f"{Path(words[0]).name}.log"
        with log.open("ab") as file:
            subprocess.Popen(
                self.command(host, *words),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=_environment(),
                start_new_session=True,
            )

    def holder(self, host: str) -> int:
        """Return the process that holds a host's namespaces.

        Raises
        ------
        RunError
            If it has exited.
        """
        if host not in self._holders:
            holder = processes.holder_within(self.lab, host, PATIENCE_S)
            if holder is None:
                raise RunError(
                    f"{host}: the host is down: run headrace lab status to see what is missing"
                )
            self._holders[host] = holder
        return self._holders[host]

    def _started(self, host: str, *words: str | Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(host, *words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=_environment(),
            check=False,
        )


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": programs.path(), "LC_ALL": "C"}
