"""Messages between two hosts."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from headrace.addresses import is_loopback
from headrace.measure import network

COMMAND = [sys.executable, "-m", "headrace", "bench", "net"]


@pytest.fixture
def answering() -> Iterator[tuple[str, str, "subprocess.Popen[str]"]]:
    """A host that answers: its address, its token, its process."""
    running = subprocess.Popen(
        [*COMMAND, "answer", "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    told = "".join(running.stdout.readline() for _ in range(3))
    found = re.search(r"ask (\S+) --token (\S+)", told)
    assert found, told
    yield found[1], found[2], running
    running.kill()
    running.communicate()


def ask(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*COMMAND, "ask", *arguments], capture_output=True, text=True, timeout=60)


def test_every_size_has_a_latency_and_a_throughput(
    answering: tuple[str, str, "subprocess.Popen[str]"],
) -> None:
    address, token, running = answering
    sizes = ["--sizes", "1,4k,1m", "--time", "0.01", "--json"]
    done = ask(address, "--token", token, *sizes)
    assert (done.returncode, done.stderr) == (0, "")
    messages = json.loads(done.stdout)["messages"]
    assert [it["size"] for it in messages] == [1, 4096, 1 << 20]
    for it in messages:
        latency = it["latency"]
        assert 0 < latency["least"] <= latency["p50"] <= latency["p99"] <= latency["max"]
        # Half of a round trip in thousandths: the histogram's resolution.
        assert it["throughput"] == pytest.approx(it["size"] / latency["p50"], rel=1e-3)
        assert it["count"] >= 10
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (130, "interrupted\n")


def test_a_wrong_token_is_one_clear_error(
    answering: tuple[str, str, "subprocess.Popen[str]"],
) -> None:
    done = ask(answering[0], "--token", "guess")
    assert done.returncode == 2
    assert "token" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_host_that_is_not_there_is_one_clear_error() -> None:
    done = ask("127.0.0.1:1", "--token", "x")
    assert done.returncode == 2
    assert "127.0.0.1:1" in done.stderr and len(done.stderr.splitlines()) == 1


def test_only_loopback_addresses_are_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "localhost", "[::1]", "127.9.9.9")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.168.1.1", "example.org", "[::]")))


def test_messages_go_on_with_the_sizes_that_are_missing(
    answering: tuple[str, str, "subprocess.Popen[str]"],
) -> None:
    address, token, _ = answering
    saved: list[dict[str, Any]] = []
    whole = network.ask(address, token, [1, 64, 4096], seconds=0.01, so_far=saved.append)
    assert [len(it["messages"]) for it in saved] == [1, 2, 3]
    assert (saved[0]["stop"]["reason"], whole["stop"]["reason"]) == ("unfinished", "done")
    measured: list[dict[str, Any]] = []
    again = network.ask(
        address, token, [1, 64, 4096], seconds=0.01, resumed=saved[1], so_far=measured.append
    )
    assert again["messages"][:2] == whole["messages"][:2]
    assert len(measured) == 1
    fewer = network.ask(address, token, [1, 16], seconds=0.01, resumed=whole)
    assert [it["size"] for it in fewer["messages"]] == [1, 16, 64, 4096]
    assert [it for it in fewer["messages"] if it["size"] != 16] == whole["messages"]
    for changed, why in (
        ({"place": {"host": "elsewhere", "peer": "x"}}, "elsewhere to x"),
        ({"messages": saved[0]["messages"]}, "its messages are not as they were saved"),
    ):
        with pytest.raises(ValueError, match=why):
            network.ask(address, token, [1], seconds=0.01, resumed=saved[1] | changed)
    with pytest.raises(ValueError, match="other times"):
        network.ask(address, token, [1], seconds=0.02, resumed=saved[1])


def test_a_signal_to_end_is_told_in_one_line(
    answering: tuple[str, str, "subprocess.Popen[str]"],
) -> None:
    _, _, running = answering
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (143, "ended by SIGTERM\n")
