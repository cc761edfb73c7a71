"""Trainings: goals of accelerators, and the dataset of `bench training`."""

import csv
import json
from pathlib import Path

import pytest

import headrace as hr
from conftest import Command
from headrace.cli.bench.training import scenario
from headrace.design.performance.workloads import _metadata_mix
from headrace.intervals import half_width

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


def test_replications_give_the_utilisation_an_interval(headrace: Command, tmp_path: Path) -> None:
    file = tmp_path / "training.toml"
    file.write_text(SCENARIO.replace('"25 ms"', '"5 ms"\nsample_deviation = "500 kB"'))
    arguments = ["run", file, "--set", "run.replications=3", "--no-progress"]
    document = json.loads(headrace(*arguments, "--json").stdout)
    half = document["intervals"]["trainings"]["0"]["utilisation"]
    each = [one["trainings"]["0"]["utilisation"] for one in document["replications"]]
    assert half == pytest.approx(half_width(each)) and half > 0
    row = next(line for line in headrace(*arguments).stdout.splitlines() if line[:2] == " 1")
    assert row.count("±") == 2


def test_a_measured_training_has_its_figures_in_csv_and_intervals(
    headrace: Command, tmp_path: Path
) -> None:
    arguments = ["bench", "training", tmp_path, "--preset", "cosmoflow", "--steps", "4"]
    arguments += ["--set", "workload.0.sample=100 kB", "--set", "workload.0.sample_deviation=0 B"]
    output = tmp_path / "result.json"
    done = headrace(*arguments, "--repetitions", "3", "--csv", "-", "--output", output)
    (row,) = [one for one in csv.DictReader(done.stdout.splitlines()) if one["accelerators"]]
    document = json.loads(output.read_text())
    assert float(row["au"]) == document["trainings"][0]["utilisation"]
    assert float(row["samples_per_s"]) == document["trainings"][0]["samples_per_second"]
    assert document["intervals"]["trainings"]["0"]["samples_per_second"] > 0


def test_loaders_and_prefetch_are_tried_without_being_named() -> None:
    paths = hr.whatif(hr.load(SCENARIO), kinds=False).frame["path"].to_list()
    assert {"workload.0.loaders", "workload.0.prefetch"} <= set(paths)


def test_a_sweep_of_two_trainings_has_the_least_utilisation() -> None:
    second = SCENARIO[SCENARIO.index("[[workload]]") :].replace(
        "loaders", 'time_per_sample = "1 s"\nloaders'
    )
    result = hr.sweep(hr.load(SCENARIO + second), {"clients.processes": [1]})
    (both,) = result.frame.iter_rows(named=True)
    each = hr.run(hr.load(SCENARIO + second)).document["trainings"]
    least, most = sorted(one["utilisation"] for one in each)
    assert both["au"] == pytest.approx(least) and least < most / 2
    assert both["accelerators"] == 2
    assert both["samples_per_s"] == pytest.approx(sum(one["samples_per_second"] for one in each))
