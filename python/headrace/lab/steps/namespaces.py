"""Step that creates a host: a process that holds network, UTS, IPC and mount namespaces."""

import os
import subprocess
from dataclasses import dataclass

from headrace._core import RunError
from headrace.lab import cgroups, processes, programs
from headrace.lab.state import Lab
from headrace.lab.steps.step import Step

SCRIPT = """
set -e
if [ -n "$2" ]; then echo $$ > "$2/cgroup.procs"; fi
hostname "$1"
ip link set dev lo up
if [ -e /proc/sys/net/ipv6/conf/all/disable_ipv6 ]; then
    echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
fi
mount --bind "$3" /etc/hosts
mount -t tmpfs -o mode=755 tmpfs /run
echo ready
exec sleep infinity > /dev/null 2>&1
"""
"""Daemons keep files in /run, which must not collide with those of other hosts."""
UNSHARE = ("unshare", "--net", "--uts", "--ipc", "--mount", "--propagation", "private")
"""Command that starts a program in the namespaces of a host."""
PATIENCE_S = 10.0


@dataclass(frozen=True)
class Namespaces(Step):
    """Namespaces exist while a process uses them; undo terminates all processes of the testbed."""

    host: str

    def do(self, lab: Lab) -> None:
        group = cgroups.of_host(lab.name, self.host)
        given = "" if group is None or not group.exists() else str(group)
        script = ["sh", "-c", SCRIPT, "headrace-lab"]
        words = [*UNSHARE, *script, self.host, given, str(lab.folder / "hosts")]
        environment = {"PATH": programs.path(), "LC_ALL": "C", processes.HOLDER: "1"}
        started = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment | processes.marks(lab, self.host),
            cwd="/",
            start_new_session=True,
            text=True,
        )
        assert started.stdout is not None and started.stderr is not None
        with started.stdout, started.stderr:
            if started.stdout.readline() != "ready\n":
                said = " ".join(started.stderr.read().split()) or "no output"
                raise RunError(f"{self.host}: cannot create namespaces: {said}")
        if processes.holder_within(lab, self.host, PATIENCE_S) is None:
            raise RunError(f"{self.host}: the process that holds its namespaces exited at once")

    def undo(self, lab: Lab) -> None:
        processes.end(lab)

    def remaining(self, lab: Lab) -> str | None:
        others = [other for other in processes.processes(lab) if other != os.getpid()]
        if not others:
            return None
        return ", ".join(f"process {number} ({processes.command(number)})" for number in others)
