"""A Slurm cluster of one node, in a directory of its own: for tests of its jobs."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import free_port

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")
SETTINGS = """
ClusterName=tests
SlurmctldHost={host}
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={below}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={below}/controller
SlurmdSpoolDir={below}/node
SlurmctldPidFile={below}/controller.pid
SlurmdPidFile={below}/node.pid
SlurmctldLogFile={below}/controller.log
SlurmdLogFile={below}/node.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
NodeName={host} CPUs={cores} RealMemory=4096 State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
"""slurm.conf(5) of Slurm 22.05."""


START_S = 60
"""Seconds in which the node must be ready. It takes about three."""


@contextlib.contextmanager
def slurm_cluster() -> Iterator[Path]:
    """Run a cluster, and yield the file of its settings for SLURM_CONF.

    The test is skipped if Slurm is not installed.
    """
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed: apt install slurm-wlm munge")
    if os.geteuid() != 0:
        pytest.skip("the daemons of Slurm take root")
    # A path for a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as name, _daemons(Path(name)):
        yield Path(name) / "slurm.conf"


@contextlib.contextmanager
def _daemons(below: Path) -> Iterator[None]:
    for name in ("controller", "node"):
        (below / name).mkdir()
    # munged refuses a socket that others cannot reach.
    below.chmod(0o755)
    key = below / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    file = below / "slurm.conf"
    file.write_text(
        SETTINGS.format(
            host=socket.gethostname().partition(".")[0],
            below=below,
            controller=free_port(),
            node=free_port(),
            cores=len(os.sched_getaffinity(0)),
        )
    )
    environment = os.environ | {"SLURM_CONF": str(file)}
    munged = (
        *("munged", "--foreground", "--force", f"--key-file={key}"),
        *(f"--socket={below}/munge.socket", f"--pid-file={below}/munged.pid"),
        *(f"--log-file={below}/munged.log", f"--seed-file={below}/munge.seed"),
    )
    with contextlib.ExitStack() as running:
        for command in (munged, ("slurmctld", "-D"), ("slurmd", "-D")):
            daemon = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            running.callback(daemon.wait)
            running.callback(daemon.terminate)

        limit = time.monotonic() + START_S
        while _states(environment) != "idle":
            if time.monotonic() > limit:
                raise TimeoutError(f"the node of Slurm is not ready: {_log(below)}")
            time.sleep(0.1)
        yield


def _states(environment: dict[str, str]) -> str:
    command = ["sinfo", "--noheader", "--format", "%t"]
    shown = subprocess.run(
        command, env=environment, check=False, capture_output=True, text=True
    ).stdout
    return shown.strip()


def _log(below: Path) -> str:
    return "".join(file.read_text()[-1000:] for file in sorted(below.glob("*.log")))
