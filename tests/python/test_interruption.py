"""Ctrl-C at the moment at which something has been made and nobody has it yet."""

import signal
from pathlib import Path

import pytest

from headrace import interruption, measure
from headrace.measure import benchmark, hosts, workload

WORK = '[[workload]]\nblock = "64 KiB"\ntransfer = "64 KiB"\nphases = ["write"]\n'


def test_what_comes_meanwhile_comes_afterwards() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), interruption.held():
        signal.raise_signal(signal.SIGINT)
        done.append("all")
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("ladder", [False, True])
def test_no_directory_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ladder: bool
) -> None:
    work = workload.load(WORK)
    made = []

    def interrupted(below: Path) -> object:
        made.append(hosts_new_directory(below))
        signal.raise_signal(signal.SIGINT)
        return made[0]

    hosts_new_directory = hosts.new_directory
    monkeypatch.setattr(hosts, "new_directory", interrupted)
    monkeypatch.setattr("headrace.measure.climb.new_directory", interrupted)
    with pytest.raises(KeyboardInterrupt):
        if ladder:
            measure.ladder(lambda _rate: work, tmp_path, rates=[100.0])
        else:
            benchmark.measure(work, tmp_path)
    assert len(made) == 1
    assert list(tmp_path.iterdir()) == []
