"""Empirical service times, from the command line and from files."""

from pathlib import Path

import pytest

import headrace as hr

TEXT = """
[clients]
count = 1
[servers]
count = 1
[servers.device]
kind = "empirical"
read_times = ["1 ms"]
write_times = ["1 ms"]
[network]
bandwidth = "10 Gbit/s"
latency = "0 s"
[layout]
unit = "1 MiB"
[[workload]]
block = "16 MiB"
transfer = "1 MiB"
phases = ["read"]
"""


def test_a_list_of_times_can_be_set() -> None:
    slower = hr.run(hr.load(TEXT, {"servers.device.read_times": '["10 ms"]'})).document
    mean = slower["latency"]["all"]["mean"]
    assert 10e-3 < mean < 12e-3


def test_a_file_of_times_without_any_time_is_refused(tmp_path: Path) -> None:
    """A decimal comma makes a time of 0 with a weight."""
    (tmp_path / "times.csv").write_text("0,001\n0,002\n")
    (tmp_path / "my.toml").write_text(TEXT.replace('["1 ms"]\nwrite', '"times.csv"\nwrite'))
    with pytest.raises(hr.ScenarioError, match="every time in it is 0"):
        hr.load(tmp_path / "my.toml")
