"""Profiles of the kernel's NFS client and server, in a Linux kernel of their own in user mode:
Debian's packages user-mode-linux, nfs-kernel-server, rpcbind and kmod. It has no network, and
cannot change this machine's files."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMANDS = ("linux.uml", "rpc.nfsd", "rpcbind", "insmod")
KNOWN = {
    "direct-read": {"read": 1},
    "direct-write": {"write": 1},
    "fstat": {"getattr": 1},
    "setattr": {"setattr": 1},
    "create": {"create": 1},
    "mkdir": {"mkdir": 1},
    "fstatfs": {"fsstat": 1},
    # Each is made before it is removed.
    "unlink": {"create": 1, "remove": 1},
}
"""What file operations cause, names that are looked up aside: RFC 1813, section 3.3."""


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What `bench tune` found by the counters of the client and by those of the server."""
    missing = [name for name in COMMANDS if shutil.which(name) is None]
    if missing or not Path("/usr/lib/uml/modules").exists():
        pytest.skip(
            f"no kernel to try NFS in ({', '.join(missing)}): apt install user-mode-linux"
            " nfs-kernel-server rpcbind kmod"
        )
    folder = tmp_path_factory.mktemp("nfs")
    (folder / "mix.toml").write_text("read = 2\nwrite = 1\ngetattr = 1\nfsstat = 1\n")
    tune = (
        f"{shlex.quote(sys.executable)} -m headrace bench tune /run/mounted --no-store --json"
        f" --amount 100 --mixed 5000 --rounds 3 --operations {','.join(KNOWN)}"
        " --target /run/folder/mix.toml"
    )
    path = shlex.quote(os.pathsep.join(sys.path[1:]))
    (folder / "job").write_text(
        f"cd /run; export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={path}\n"
        + "".join(
            f"{tune} --profiler {name} > /run/folder/{name}\n"
            for name in ("nfs-client", "nfs-server")
        )
    )
    kernel = ["linux.uml", "mem=1G", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"]
    kernel += [f"init={Path(__file__).with_name('nfs_kernel.sh')}", f"folder={folder}"]
    kernel += ["con=null", "con0=null,fd:1"]
    memory = os.environ | {"TMPDIR": str(folder)}
    booted = subprocess.run(
        kernel, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, env=memory
    )
    log = folder / "log"
    told = log.read_text() if log.exists() else booted.stdout[-2000:]
    if not (folder / "nfs-client").exists():
        pytest.skip(f"a kernel in user mode does not mount NFS here: {told[-500:]}")
    found = {name: (folder / name).read_text() for name in ("nfs-client", "nfs-server")}
    assert all(found.values()), told
    return {name: json.loads(text) for name, text in found.items()}


@pytest.mark.parametrize("profiler", ["nfs-client", "nfs-server"])
def test_operations_cause_the_procedures_that_they_are(
    profiles: dict[str, dict[str, Any]], profiler: str
) -> None:
    document = profiles[profiler]
    assert document["left_out"] == {}
    for operation, causes in KNOWN.items():
        found = {
            name: count
            for name, count in document["profile"][operation].items()
            if name != "lookup" and count > 0.5
        }
        if operation == "create":
            # A new file gets its mode and times.
            assert found.pop("setattr") == pytest.approx(1, abs=0.2)
        # The ten files are opened once in a hundred operations.
        assert found == {name: pytest.approx(count, abs=0.2) for name, count in causes.items()}


@pytest.mark.parametrize("profiler", ["nfs-client", "nfs-server"])
def test_a_mix_is_reached_on_nfs(profiles: dict[str, dict[str, Any]], profiler: str) -> None:
    for mix in profiles[profiler]["mixes"].values():
        # Five standard deviations of two fifths of 5,000.
        assert mix["largest_difference"] < 0.035
