"""`headrace run`: what it prints, what it writes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from matplotlib.image import imread

from conftest import ROOT, Command, shipped
from headrace import simulate
from headrace._core import replication_seed
from headrace.simulate import single_requests

KEYS = [
    "kind",
    "version",
    "scenario",
    "seed",
    "simulated_seconds",
    "wall_seconds",
    "events",
    "stop",
    "throughput",
    "operations",
    "latency",
    "groups",
    "stations",
    "breakdown",
    "bottleneck",
]


def strict(text: str) -> dict[str, Any]:
    """One JSON document without NaN or Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    document = json.loads(text, parse_constant=refuse)
    assert isinstance(document, dict)
    return document


def timeless(document: dict[str, Any]) -> dict[str, Any]:
    """A result without what says when and where it was made."""
    own = ("wall_seconds", "environment")
    return {key: value for key, value in document.items() if key not in own}


def test_json_is_one_strict_document(headrace: Command, small: Path) -> None:
    ended = headrace("run", small, "--json")
    assert ended.returncode == 0
    assert ended.stderr == ""
    document = strict(ended.stdout)
    assert [key for key in document if key in KEYS] == KEYS
    assert document["seed"] == 1
    assert document["operations"]["read"]["count"] == 4 * 5
    assert document["operations"]["read"]["bytes"] == 4 * 5 << 20
    for part in (document, *document["groups"].values()):
        for name, operation in part["operations"].items():
            rate = operation["bytes"] / operation["active_seconds"]
            assert part["throughput"][name] == pytest.approx(rate, rel=1e-12)
    share = document["groups"]["G1"]["share"]
    assert share is None or {"mean", "sd", "window_s", "from_s", "to_s"} <= share.keys()
    latency = document["latency"]["all"]
    assert latency["count"] == 40
    assert latency["p50"] <= latency["p95"] <= latency["p99"] <= latency["max"]
    assert document["bottleneck"]["sentence"].endswith(".")


def test_the_same_seed_gives_the_same_json(headrace: Command, small: Path) -> None:
    first, again, other = (
        strict(headrace("run", small, "--json", "--set", f"run.seed={seed}").stdout)
        for seed in (7, 7, 8)
    )
    assert timeless(first) == timeless(again)
    assert first["latency"] != other["latency"]


def test_tables_tell_what_json_tells(headrace: Command, small: Path) -> None:
    ended = headrace("run", small)
    assert ended.returncode == 0
    assert ended.stderr == ""
    document = strict(headrace("run", small, "--json").stdout)
    assert document["bottleneck"]["sentence"] in ended.stdout
    assert f"  {1e-6 * document['throughput']['read']:.1f}  " in ended.stdout
    assert f"{1e3 * document['latency']['read']['p95']:.2f}" in ended.stdout
    for word in (
        "G1",
        "G2",
        "MB/s",
        "p99 ms",
        "busy %",
        *(station["station"] for station in document["stations"] if station["visits"]),
    ):
        assert word in ended.stdout
    assert "…" not in ended.stdout
    assert "\x1b" not in ended.stdout


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.stem)
def test_shipped_scenarios_run_with_other_numbers_of_clients(path: Path, headrace: Command) -> None:
    sets = ["--set", "clients.count=2"]
    if "sfq" in path.stem:
        sets += ["--set", "scheduler.weights.G2=4", "--set", "run.stop.time=20 s"]
    if path.stem == "pools":
        sets += ["--set", "clients.groups={checkpoint=1, records=1}"]
    if path.stem == "straggler":
        sets += ["--set", "clients.groups={new=1, old=1}"]
    ended = headrace("run", path, *sets, "--json")
    assert ended.returncode == 0, ended.stderr
    document = strict(ended.stdout)
    assert sum(group["clients"] for group in document["groups"].values()) == 2
    assert document["latency"]["all"]["count"] > 0


def test_a_saved_result_runs_again_from_itself(
    headrace: Command, small: Path, tmp_path: Path
) -> None:
    saved, again = tmp_path / "result.json", tmp_path / "again.json"
    assert headrace("run", small, "--set", "run.seed=3", "-o", saved).returncode == 0
    small.unlink()
    assert headrace("run", saved, "-o", again).returncode == 0
    first, second = (strict(path.read_text()) for path in (saved, again))
    assert timeless(first) == timeless(second)
    assert first["seed"] == 3
    assert first["host"]["system"]
    assert sum(first["series"]["bytes"]) == 2 * 20 << 20
    changed = headrace("run", saved, "--set", "clients.count=2", "--json")
    assert strict(changed.stdout)["operations"]["read"]["count"] == 10


def test_plots_are_images_and_the_same_each_time(
    headrace: Command, small: Path, tmp_path: Path
) -> None:
    folders = [tmp_path / "a" / "deep", tmp_path / "b"]
    for folder in folders:
        ended = headrace("run", small, "--plot", folder, "--set", "run.replications=2")
        assert ended.returncode == 0
        assert str(folder) in ended.stdout
        names = sorted(path.name for path in folder.iterdir())
        assert names == sorted(
            f"{name}.{kind}"
            for name in (
                "operations",
                "throughput",
                "latency",
                "utilisation",
                "servers",
                "breakdown",
            )
            for kind in ("png", "svg")
        )
    for path in folders[0].iterdir():
        assert path.read_bytes() == (folders[1] / path.name).read_bytes()
        if path.suffix == ".png":
            picture = imread(path)
            assert picture.shape[0] > 300
            assert picture.shape[1] == (1650 if path.stem == "operations" else 1200)
            assert picture[..., :3].std() > 0.02
        else:
            assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_plots_of_a_run_that_moves_nothing(headrace: Command, tmp_path: Path) -> None:
    trace = tmp_path / "stat.csv"
    trace.write_text("time,process,operation,file,offset,size,duration\n0,p,stat,/f,0,0,0.001\n")
    scenario = _replay(tmp_path, trace)
    ended = headrace("run", scenario, "--plot", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    assert len(list((tmp_path / "out").iterdir())) == 10


def test_requests_add_up_to_the_report(headrace: Command, small: Path, tmp_path: Path) -> None:
    path = tmp_path / "requests.parquet"
    ended = headrace("run", small, "--json", "--requests", path)
    document, requests = strict(ended.stdout), pl.read_parquet(path)
    for name, group in document["groups"].items():
        for operation, figures in group["operations"].items():
            part = requests.filter(group=pl.lit(name), operation=pl.lit(operation))
            assert part.height == figures["count"]
            assert part["size_bytes"].sum() == figures["bytes"]
            latency = group["latency"][operation]
            assert part["latency_s"].mean() == pytest.approx(latency["mean"], rel=1e-3)
            assert part["latency_s"].max() == pytest.approx(latency["max"], rel=1e-3)
    took = requests["completed_s"] - requests["issued_s"]
    assert (took - requests["latency_s"]).abs().max() < 1e-9  # type: ignore[operator]
    assert (requests["intended_s"] <= requests["issued_s"]).all()
    assert requests["client"].n_unique() == 4


def test_requests_of_more_than_a_part_are_all_in_the_file(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "requests.parquet"
    # Three parts of 100,000, and more than four of the extension's 65,536.
    sets = ["workload.0.files=1", "workload.0.block=132 MiB", "workload.0.transfer=4 KiB"]
    scenario = simulate.load_with_sets(small, sets)
    kept = simulate.run(scenario, requests=True).requests
    assert kept is not None
    assert kept.height > 2 * 65_536
    monkeypatch.setattr(single_requests, "PART", 100_000)
    with simulate.in_file(path) as taking:
        simulate.run(scenario, requests=taking)
        taking.save(path)
    assert pl.read_parquet(path).equals(kept)
    assert list(tmp_path.glob(".headrace*")) == []


def test_requests_of_the_warm_up_are_in_no_file(
    headrace: Command, small: Path, tmp_path: Path
) -> None:
    path = tmp_path / "requests.parquet"
    more = ("--set", "run.warm_up=1 ms", "--set", "run.replications=2")
    ended = headrace("run", small, *more, "--json", "--requests", path)
    document, requests = strict(ended.stdout), pl.read_parquet(path)
    assert requests["completed_s"].min() >= 1e-3  # type: ignore[operator]
    assert sorted(requests["seed"].unique()) == [it["seed"] for it in document["replications"]]
    # The document has means over the replications.
    assert requests.height == 2 * document["latency"]["all"]["count"]


def test_links_without_loss_are_warned_of(headrace: Command, small: Path) -> None:
    sets = ("--set", "network.link=InfiniBand-QDR", "--set", "network.grain=packet")
    document = strict(headrace("run", small, *sets, "--json").stdout)
    (warning,) = document["warnings"]
    assert warning["condition"] == "lossless-link"
    assert "InfiniBand-QDR" in warning["message"]
    # With fewer columns lines break.
    printed = " ".join(headrace("run", small, *sets).stdout.split())
    assert "credits" in printed


def test_without_memory_a_run_ends_in_one_line(small: Path) -> None:
    limited = [
        "prlimit",
        f"--as={3 << 30}",
        *(sys.executable, "-m", "headrace", "run", str(small), "--no-store", "--no-progress"),
        *("--set", "clients.count=2000000"),
    ]
    ended = subprocess.run(limited, capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.count("\n") == 1
    assert "memory" in ended.stderr


def _replay(folder: Path, trace: Path) -> Path:
    scenario = folder / f"replay-{trace.suffix[1:]}.toml"
    scenario.write_text(f"""
name = "replay"
[clients]
count = 2
[servers]
count = 2
device = {{ read_rate = "60 MB/s", write_rate = "50 MB/s" }}
[network]
bandwidth = "1 Gbit/s"
latency = "0.2 ms"
[layout]
unit = "64 KiB"
[[workload]]
kind = "trace"
file = "{trace.name}"
""")
    return scenario


def test_a_parquet_trace_replays_as_its_csv(headrace: Command, tmp_path: Path) -> None:
    source = ROOT / "tests" / "data" / "traces" / "build.strace"
    documents = []
    for name in ("trace.csv", "trace.parquet"):
        trace = tmp_path / name
        assert headrace("trace", "import", source, trace).returncode == 0
        saved = tmp_path / f"{name}.json"
        ended = headrace("run", _replay(tmp_path, trace), "--json", "-o", saved)
        assert ended.returncode == 0, ended.stderr
        document = strict(ended.stdout)
        assert f'file = "{trace}"' in document["scenario"]["toml"]
        again = headrace("run", saved, "--json")
        assert timeless(strict(again.stdout)) == timeless(document)
        document["scenario"] = None
        documents.append(timeless(document))
    assert documents[0] == documents[1]
    assert documents[0]["operations"]["read"]["count"] > 10
    assert not list((tmp_path / "temporary").iterdir())


def test_replications_give_means_and_intervals(headrace: Command, small: Path) -> None:
    seeds = [5, replication_seed(5, 1), replication_seed(5, 2)]
    runs = [
        strict(headrace("run", small, "--json", "--set", f"run.seed={seed}").stdout)
        for seed in seeds
    ]
    sets = ["--set", "run.seed=5", "--set", "run.replications=3"]
    document = strict(headrace("run", small, "--json", *sets).stdout)
    assert [key for key in document if key in KEYS] == KEYS
    reads = [run["throughput"]["read"] for run in runs]
    mean = sum(reads) / 3
    assert document["throughput"]["read"] == pytest.approx(mean, rel=1e-12)
    # Student's t with 2 degrees of freedom: 4.303 at 97.5 %.
    deviation = (sum((read - mean) ** 2 for read in reads) / 2) ** 0.5
    half = document["intervals"]["throughput"]["read"]
    assert half == pytest.approx(4.302653 * deviation / 3**0.5, rel=1e-5)
    assert half > 0
    assert [one["seed"] for one in document["replications"]] == seeds
    assert [one["throughput"]["read"] for one in document["replications"]] == reads
    latency = [run["latency"]["all"]["mean"] for run in runs]
    assert document["latency"]["all"]["mean"] == pytest.approx(sum(latency) / 3, rel=1e-12)
    assert document["operations"]["read"]["count"] == 20
    assert document["events"] == sum(run["events"] for run in runs)
    assert "replications = 3" in document["scenario"]["toml"]
    table = headrace("run", small, *sets)
    assert "3 replications of seed 5" in table.stdout


def test_why_a_run_ended(headrace: Command, small: Path) -> None:
    def ended(**sets: object) -> tuple[dict[str, Any], str]:
        given = [f"--set=run.{key.replace('__', '.')}={value}" for key, value in sets.items()]
        table = headrace("run", small, *given)
        assert table.returncode == 0, table.stderr
        stop = strict(headrace("run", small, *given, "--json").stdout)["stop"]
        return stop, table.stdout.splitlines()[-1]

    assert ended() == ({"reason": "workload"}, "The run ended with its workload.")
    assert ended(stop__time="0.1 s") == ({"reason": "time"}, "The run ended at run.stop.time.")
    stop, line = ended(stop__requests=7)
    assert (stop, line) == ({"reason": "requests"}, "The run ended after run.stop.requests.")

    small.write_text(small.read_text().replace('["write", "read"]', '["write"]'))
    stop, line = ended(stop__precision=0.01)
    wanted = {"wanted": 0.01, "got": None, "confidence": 0.95, "reached": False}
    assert stop == {"reason": "workload", "precision": wanted}
    assert line == (
        "The run ended with its workload. run.stop.precision = 0.01 was not reached: "
        "there were too few requests for an interval."
    )


def test_precision_in_replications(headrace: Command, small: Path) -> None:
    sets = ["--set=workload.0.files=200", "--set=run.replications=2"]
    sets += ['--set=workload.0.phases=["write"]']
    for precision, verdict in ((0.0001, "was not reached"), (0.99, "was reached in all of them")):
        given = [*sets, f"--set=run.stop.precision={precision}"]
        document = strict(headrace("run", small, *given, "--json").stdout)
        stops = [run["stop"] for run in document["replications"]]
        got = max(stop["precision"]["got"] for stop in stops)
        assert document["stop"]["reason"] == "workload"
        assert document["stop"]["precision"]["got"] == got
        assert document["stop"]["precision"]["reached"] == (got <= precision)
        line = headrace("run", small, *given).stdout.splitlines()[-1]
        assert line.startswith("Each run ended with its workload. ")
        assert f"run.stop.precision = {precision:g} {verdict}: " in line
        drifts = any(stop["precision"].get("drifts") for stop in stops)
        assert drifts or f"{100 * got:.2f} % of it where it is worst." in line or got < 0.01


def test_groups_come_in_the_files_order(headrace: Command, small: Path) -> None:
    for groups in ('["z", "m", "a", "b"]', "{ z = 1, m = 1, a = 1, b = 1 }"):
        for more in ([], ["--set=run.replications=2"]):
            given = [f"--set=clients.groups={groups}", *more]
            document = strict(headrace("run", small, *given, "--json").stdout)
            assert list(document["groups"]) == ["z", "m", "a", "b"]
            table = headrace("run", small, *given).stdout
            first = [line.split()[0] for line in table.splitlines() if line.split()]
            assert [name for name in first if name in {"z", "m", "a", "b"}] == ["z", "m", "a", "b"]


def test_paths_are_printed_in_one_line_and_do_not_steer_the_terminal(
    headrace: Command, small: Path, tmp_path: Path
) -> None:
    name = "[red]\x1b[31m\n[bold]"
    shown = str(tmp_path / "[red]\\x1b[31m\\n[bold]")
    ended = headrace("run", small, "-o", tmp_path / name, "--plot", tmp_path / f"{name}.d")
    assert ended.stdout.splitlines()[-2:] == [f"plots: {shown}.d", f"result: {shown}"]
    trace = tmp_path / f"{name}.csv"
    ended = headrace("trace", "synth", trace)
    assert ended.stdout == f"{shown}.csv: 12 records\n"
    ended = headrace("trace", "import", trace, tmp_path / f"{name}.2.csv")
    assert ended.stdout == f"{shown}.2.csv: 12 records\n"
