"""GlusterFS in a testbed: real daemons on hosts with limited links, as root."""

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace.lab import Lab, down, find, plan, status, up
from headrace.lab.hosts import Hosts
from headrace.lab.servers.server import wait_until
from headrace.simulate import run
from headrace.simulate.scenario import load
from lab import as_before, done, lab, machine, skip_unless_possible
from mpi import mpirun

SCENARIO = """
system = "glusterfs"

[clients]
count = 2

[clients.machine.memory]
size = "512 MiB"

[network]
link = "100MbE"
latency = "50 us"

[servers]
count = 3
device = { kind = "throttled", rate = "1 GB/s", read_rate = "80 MB/s", write_rate = "80 MB/s" }

[lab]
image = "1 GiB"

[[workload]]
files = 4
block = "1 MiB"
transfer = "256 KiB"
phases = ["write", "read"]
io = { direct = true }
"""

WORK = """
[clients]
count = 1

[servers]
count = 1
device = { read_rate = "1 GB/s", write_rate = "1 GB/s" }

[[workload]]
block = "1 MiB"
"""


@pytest.fixture
def before() -> Iterator[dict[str, Any]]:
    """What the machine looks like, and must look like at the end."""
    skip_unless_possible("glusterd", "gluster", "mount.glusterfs", "mkfs.ext4")
    with as_before() as found:
        yield found


@pytest.fixture
def file(tmp_path: Path, before: dict[str, Any]) -> Iterator[Path]:
    """A scenario. Whatever a test leaves of it is taken down."""
    path = tmp_path / f"gluster-{os.getpid()}.toml"
    path.write_text(SCENARIO)
    yield path
    if (left := find(path.stem)) is not None:
        down(left)


def made(file: Path, **sets: object) -> Lab:
    """A testbed with other values, whose dots are written as two underscores."""
    changed = {key.replace("__", "."): value for key, value in sets.items()}
    return up(plan(load(file, changed)), file.stem)


def write(stood: Lab, size: int) -> list[int]:
    """Writes a file at the first client; the bytes that each server then has of it."""
    hosts = Hosts(stood)
    at = stood.mount_point / "file"
    counts = ["bs=1M", f"count={size >> 20}", "conv=fsync"]
    hosts.run("client-0", "dd", "if=/dev/urandom", f"of={at}", *counts)
    servers = [it.name for it in stood.plan().of("server")]
    script = f"find {stood.folder}/disk-0/brick -name .glusterfs -prune -o -type f -printf '%s '"
    return [
        sum(int(it) for it in hosts.run(server, "sh", "-c", script).split()) for server in servers
    ]


def test_clients_measure_together_on_links_that_are_limited(
    file: Path, before: dict[str, Any], tmp_path: Path
) -> None:
    mpirun()
    stood = made(file)
    found = status(stood)
    assert found.up
    assert [it.name for it in found.hosts] == [
        *("client-0", "client-1", "server-0", "server-1", "server-2"),
    ]
    assert all(it.link for it in found.hosts)
    result = tmp_path / "result.json"
    done("bench", file, "-o", result, "--no-store")
    document = json.loads(result.read_text())
    assert [(it["name"], it["processes"]) for it in document["hosts"]] == [
        *(("client-0", 1), ("client-1", 1)),
    ]
    assert document["operations"]["write"]["bytes"] == 2 * 4 << 20
    # Two links of 12.5 MB/s each, whose packets are not data alone. Writes may be behind.
    assert 0 < document["throughput"]["read"] < 2 * 12.5e6
    done("bench", file, "--client-hosts", "1", "-o", result, "--no-store")
    assert json.loads(result.read_text())["processes"] == 1
    assert (
        "--client-hosts 3: expected at most 2" in lab("bench", file, "--client-hosts", "3").stderr
    )
    one = write(stood, 2 << 20)
    assert sorted(one) == [0, 0, 2 << 20]
    before_it = received(stood, "client-1")
    Hosts(stood).run("client-1", "cp", stood.mount_point / "file", "/dev/null")
    # Headers of packets come to 5 %; what is read ahead is asked for once.
    assert 1 < (received(stood, "client-1") - before_it) / (2 << 20) < 1.3
    for process in found.hosts[3].processes:
        os.kill(process.number, signal.SIGKILL)
    time.sleep(0.2)
    assert not status(stood).up
    down(stood)
    assert machine() == before


def test_copies_are_on_all_bricks(file: Path) -> None:
    stood = made(file, replication__copies=3, clients__count=1, network__link="1GbE")
    assert write(stood, 2 << 20) == [2 << 20] * 3


def test_clients_read_the_copies_in_turn(file: Path) -> None:
    sets = {"replication__copies": 2, "servers__count": 2, "network__link": "1GbE"}
    stood = made(file, **sets)
    assert write(stood, 2 << 20) == [2 << 20] * 2
    before = [sent(stood, f"server-{it}") for it in (0, 1)]
    Hosts(stood).run("client-1", "cp", stood.mount_point / "file", "/dev/null")
    assert sent(stood, "server-0") - before[0] < 1 << 20
    assert sent(stood, "server-1") - before[1] > 2 << 20


def test_the_network_and_a_server_are_calibrated(file: Path, tmp_path: Path) -> None:
    text = SCENARIO
    for of_caches in ("[clients.machine.memory]", 'size = "512 MiB"', "io = { direct = true }"):
        text = text.replace(of_caches, "")
    file.write_text(text)
    stood = made(file, clients__count=1, servers__count=1, clients__kind="simple")
    hosts, machine_file = Hosts(stood), tmp_path / "machine.toml"
    own = [sys.executable, "-m", "headrace"]
    answer = ("bench", "net", "answer", "--listen", "0.0.0.0:7417", "--token", "t")
    hosts.start("server-0", *own, *answer)
    wait_until(
        "answer", lambda: hosts.succeeds("client-0", "bash", "-c", ": < /dev/tcp/server-0/7417")
    )
    where = (stood.mount_point, "--server", "server-0:7417", "--token", "t", "--repetitions", "2")
    told = json.loads(
        hosts.run("client-0", *own, "calibrate", *where, "-o", machine_file, "--json")
    )
    found = {it["field"]: it["values"] for it in told["parameters"]}
    # Of 12.5 MB/s; the processors are shared with whatever else there is.
    assert 6e6 < statistics.median(found["network.bandwidth"]) < 14e6
    assert statistics.median(found["hosts.cpu.serve_write"]) > 0
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(f'system = "{machine_file}"\n{WORK}')
    assert run(load(scenario)).json()["throughput"]["write"] > 0
    refused = hosts.succeeds("client-0", *own, "calibrate", stood.mount_point)
    assert not refused


def test_dispersed_files_have_a_part_on_each_brick(file: Path) -> None:
    stood = made(file, lab__volume="disperse", clients__count=1, network__link="1GbE")
    # Two of three bricks are enough for all of it.
    assert write(stood, 2 << 20) == [1 << 20] * 3


def test_shards_are_spread(file: Path) -> None:
    # That all pieces lie on one brick has a probability of 3 to the power of -7.
    sets = {"lab__volume": "shard", "layout__unit": "4 MiB", "network__link": "1GbE"}
    stood = made(file, **sets, clients__count=1)
    parts = write(stood, 32 << 20)
    assert sum(parts) == 32 << 20
    assert max(parts) < 32 << 20


def received(stood: Lab, host: str) -> int:
    """Bytes that have gone to a host."""
    return passed(stood, "switch", host)


def sent(stood: Lab, host: str) -> int:
    """Bytes that a host has sent."""
    return passed(stood, host, "eth0")


def passed(stood: Lab, host: str, card: str) -> int:
    told = Hosts(stood).run(host, "tc", "-s", "-j", "qdisc", "show", "dev", card)
    return int(json.loads(told)[0]["bytes"])


@pytest.mark.parametrize(
    ("sets", "told"),
    [
        ({"lab__volume": "stripes"}, 'lab.volume = "stripes"'),
        ({"lab__volume": "shard"}, "a shard has at least"),
        ({"replication__copies": 2, "replication__sets": "random"}, "divisor of the 3 bricks"),
        ({"lab__volume": "disperse", "lab__redundancy": 2}, "lab.redundancy = 2"),
        ({"lab__server": "none"}, 'expected "glusterfs"'),
        ({"clients__count": 1000}, "clients.count = 1000"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_made(
    file: Path, sets: dict[str, object], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        made(file, **sets)
    assert find(file.stem) is None


def test_daemons_of_a_testbed_killed_half_made_end(file: Path, before: dict[str, Any]) -> None:
    command = [sys.executable, "-m", "headrace", "lab", "up", str(file)]
    making = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    begun = Path("/var/lib/headrace/labs") / file.stem / "server-1" / "glusterd"
    while making.poll() is None and not begun.exists():
        time.sleep(0.005)
    making.kill()
    making.wait()
    assert lab("status", file).returncode == 1
    done("down", file)
    assert machine() == before
