"""Tuning on a real GlusterFS volume of two replicas, where GlusterFS is installed."""

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.measure import tuning
from headrace.measure.tuning.profile import count_requests
from headrace.measure.tuning.tune import tune

VOLUME = "headrace-test"
SOCKET = Path("/var/run/glusterd.socket")
"""Where the command finds the management daemon."""

KEPT_BY_THE_CLIENT = (
    *("stat-prefetch", "io-cache", "quick-read", "read-ahead", "open-behind"),
    "write-behind",
)
"""What would keep calls from the bricks."""


def gluster(*words: str) -> None:
    command = ["gluster", "--mode=script", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def missing() -> str | None:
    """What there must be and is not."""
    for program in ("glusterd", "gluster", "mount.glusterfs"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if os.geteuid() != 0:
        return "only root may start GlusterFS"
    if SOCKET.exists():
        return "GlusterFS is in use on this machine"
    return None


@pytest.fixture(scope="module")
def volume() -> Iterator[Path]:
    """Where a volume of two replicas is mounted; its management daemon has a state of its own."""
    with (
        (Path(tempfile.gettempdir()) / "headrace-test-gluster.lock").open("w") as lock,
        tempfile.TemporaryDirectory(prefix="headrace-gluster-") as name,
    ):
        # One management daemon on a machine: workers of one run take turns.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (why := missing()) is not None:
            pytest.skip(why)
        home = Path(name)
        settings = home / "glusterd.vol"
        settings.write_text(
            "volume management\n  type mgmt/glusterd\n"
            f"  option working-directory {home}/state\n  option transport-type socket\n"
            "  option transport.address-family inet\nend-volume\n"
        )
        daemon = subprocess.Popen(
            ["glusterd", "-N", "-f", str(settings), "-p", f"{home}/pid", "-l", f"{home}/log"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield from mounted(home)
        finally:
            daemon.terminate()
            daemon.wait(60)
            SOCKET.unlink(missing_ok=True)


def mounted(home: Path) -> Iterator[Path]:
    deadline = time.monotonic() + 60
    while not SOCKET.exists():
        if time.monotonic() > deadline:
            pytest.skip(f"GlusterFS does not start: {(home / 'log').read_text()[-500:]}")
        time.sleep(0.1)
    host = os.uname().nodename
    bricks = [f"{host}:{home}/one", f"{host}:{home}/two"]
    created = subprocess.run(
        ["gluster", "--mode=script", "volume", "create", VOLUME, "replica", "2", *bricks, "force"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    if created.returncode != 0:
        pytest.skip(f"no volume can be made here: {created.stderr or created.stdout}")
    for option in KEPT_BY_THE_CLIENT:
        gluster("volume", "set", VOLUME, f"performance.{option}", "off")
    gluster("volume", "start", VOLUME)
    at = home / "at"
    at.mkdir()
    try:
        timeouts = "attribute-timeout=0,entry-timeout=0"
        mount = ["mount", "-t", "glusterfs", "-o", timeouts, f"localhost:/{VOLUME}", str(at)]
        subprocess.run(mount, check=True, timeout=120)
        yield at
        subprocess.run(["umount", "-l", str(at)], check=True, timeout=120)
    finally:
        gluster("volume", "stop", VOLUME, "force")
        gluster("volume", "delete", VOLUME)


def test_a_volume_that_is_not_profiled_is_one_clear_error(volume: Path) -> None:
    for name in (VOLUME, "none"):
        with (
            tuning.profiler(f"gluster:{name}")(volume) as watched,
            pytest.raises(ValueError, match="not started|does not exist"),
        ):
            watched.profiler()


def test_a_mix_is_tuned_on_a_volume(volume: Path) -> None:
    gluster("volume", "profile", VOLUME, "start")
    amount = tuning.Amount(alone=100, mixed=2000, files=1)
    with tuning.profiler(f"gluster:{VOLUME}")(volume) as watched:
        written = count_requests(watched, {"direct-write": 1.0}, 100, amount).counts
        # Both replicas write; one reads.
        assert written["write"] == pytest.approx(200, abs=4)
        assert count_requests(watched, {"direct-read": 1.0}, 100, amount).counts["read"] == 100
        wanted = {"lookup": 0.5, "stat": 0.25, "read": 0.25}
        document = tune(watched, wanted, ["stat", "direct-read", "link"], amount=amount)
    # A file has a hundred names at the most (storage.max-hardlinks).
    assert list(document["left_out"]) == ["link"]
    for mix in document["mixes"].values():
        assert mix["largest_difference"] < 0.06, document
