"""Trainings: goals of accelerators, and the dataset of `bench training`."""

from pathlib import Path

import pytest

import headrace as hr
from conftest import Command
from headrace.cli.bench.training import scenario
from headrace.design.performance.workloads import _metadata_mix

SCENARIO = """\
system = "ext4"
[clients]
processes = 1
[machine]
memory = { size = "4 GiB" }
device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
[[workload]]
kind = "training"
files = 60
sample = "1 MB"
batch = 1
computation = "25 ms"
loaders = 2
"""


def test_the_largest_number_is_what_the_device_can_feed(headrace: Command, tmp_path: Path) -> None:
    """An accelerator takes 40 MB/s: the device feeds two and a half."""
    file = tmp_path / "training.toml"
    file.write_text(SCENARIO)
    arguments = ["optimise", file, "--vary", "clients.processes=1..4", "--no-progress"]
    limits = ["--subject-to", "au >= 90 %"]
    shown = headrace(*arguments, "--maximise", "accelerators", *limits).stdout
    assert "clients.processes=2" in shown or "\n 2 " in shown
    assert "%" in headrace(*arguments, "--maximise", "au").stdout


def test_a_goal_is_a_share() -> None:
    best = hr.optimise(
        hr.load(SCENARIO),
        {"clients.processes": [1, 2, 3]},
        maximise="accelerators",
        subject_to="au >= 0.9",
    )
    assert best.best is not None
    assert best.best.point["clients.processes"] == 2


def test_the_dataset_has_new_samples_for_each_step() -> None:
    """7 samples a step, in a file each; of ResNet-50 400 in files of 1,251."""
    assert "files = 140" in scenario("unet3d", 2, 10, None)
    assert "files = 8" in scenario("resnet50", 2, 10, None)
    assert "files = 20" in scenario("cosmoflow", 1, 5, None, ["workload.0.batch=4"])
    with pytest.raises(ValueError, match="5 steps of 1 accelerator take 35 files"):
        scenario("unet3d", 1, 5, 1)


def test_a_search_for_names_becomes_a_list_of_names_in_a_mix() -> None:
    mix = _metadata_mix({}, {"phases": ["create", "find", "stat", "unlink"]})
    assert mix["weights"] == {"create": 1, "readdir": 1, "stat": 1, "unlink": 1}
