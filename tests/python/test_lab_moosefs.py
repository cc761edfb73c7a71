"""MooseFS in a testbed: a master, chunk servers, a client, as root."""

import os
import signal
from pathlib import Path

from headrace.lab import running_testbed, status
from headrace.lab.hosts import Hosts
from headrace.lab.servers.server import wait_until
from lab import as_before, skip_unless_possible

SCENARIO = """
[clients]
count = 1

[network]
link = "1GbE"
latency = "50 us"

[servers]
count = 2
device = { kind = "throttled", rate = "1 GB/s", read_rate = "80 MB/s", write_rate = "80 MB/s" }

[replication]
copies = 2

[layout]
unit = "64 MiB"

[lab]
server = "moosefs"
image = "1 GiB"

[[workload]]
block = "1 MiB"
"""


def test_each_chunk_is_on_both_servers(tmp_path: Path) -> None:
    skip_unless_possible("mfsmaster", "mfschunkserver", "mfsmount", "mkfs.ext4")
    file = tmp_path / "moosefs.toml"
    file.write_text(SCENARIO)
    with as_before(), running_testbed(file, name=f"moosefs-{os.getpid()}") as stood:
        found = status(stood)
        assert found.up
        # It hides its environment: it must be known all the same.
        client = next(it for it in found.hosts if it.name == "client-0")
        assert any("mfsmount" in it.command for it in client.processes)
        hosts = Hosts(stood)
        at = stood.mount_point / "file"
        hosts.run("client-0", "dd", "if=/dev/urandom", f"of={at}", "bs=1M", "count=4")
        hosts.run("client-0", "sync", at)
        for server in ("server-0", "server-1"):
            chunks = ("find", stood.folder / "disk-0", "-name", "chunk_*", "-printf", "%s ")
            sizes = [int(it) for it in hosts.run(server, *chunks).split()]
            # The data, and its checksums.
            assert 4 << 20 <= sum(sizes) < 5 << 20
        # What has ended is named.
        (chunks_of,) = (it for it in found.hosts if it.name == "server-1")
        assert chunks_of.missing == []
        os.kill(chunks_of.processes[0].number, signal.SIGKILL)
        wait_until("the chunk server", lambda: not status(stood).up)
        missing = {it.name: it.missing for it in status(stood).hosts}
        assert missing.pop("server-1") == ["mfschunkserver"]
        assert not any(missing.values())
