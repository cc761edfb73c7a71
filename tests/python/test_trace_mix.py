"""Mixes of operations fitted to traces with known answers."""

import json
import random
import tomllib
from pathlib import Path

import pytest

from command import command
from headrace.measure.mix import MixedLoad
from headrace.profile.workload_fit import fit_mix

TRACES = Path(__file__).parents[1] / "data" / "traces"
HEADER = "time,process,operation,file,offset,size,duration\n"


def trace(folder: Path) -> Path:
    """Two processes: each looks up 60 files and writes 20 small files of its own, 2 kB in order,
    and reads 20 times 4 KiB at random places of a file of 1 MiB that both use."""
    rows, places = [], random.Random(1)
    for n in range(60):
        for process in (1, 2):
            at = n * 0.01 + process * 0.001
            rows.append((at, process, "stat", f"/s{n}", 0, 0, 0.0001))
            if n % 3 == 0:
                own = f"/own{process}.{n}"
                rows.append((at + 0.002, process, "create", own, 0, 0, 0.0001))
                rows += [
                    (at + 0.003 + part * 0.001, process, "write", own, part * 1000, 1000, 0.0001)
                    for part in (0, 1)
                ]
                # The last page is read, so that the file is as long as it is.
                page = 255 if n == 0 else places.randrange(256)
                rows.append((at + 0.005, process, "read", "/common", page * 4096, 4096, 0.0001))
    path = folder / "t.csv"
    lines = (
        ",".join(f"{it:.6f}" if isinstance(it, float) else str(it) for it in row) for row in rows
    )
    path.write_text(HEADER + "\n".join(lines) + "\n")
    return path


def test_the_shares_sizes_and_files_of_a_trace_are_those_of_its_mix(tmp_path: Path) -> None:
    fitted = fit_mix(trace(tmp_path))
    scenario = tomllib.loads(fitted.toml)
    mix = scenario["workload"][0]
    # 2 x 60 lookups, 2 x 20 creates, 2 x 2 x 20 writes, 2 x 20 reads of the common file.
    assert mix["weights"] == {"stat": 120, "create": 40, "write": 80, "shared-read": 40}
    assert (mix["amount"], mix["files"], scenario["clients"]["processes"]) == (280, 41, 2)
    assert mix["file_sizes"] == {"2000 B": 40, "1 MiB": 1}
    assert (mix["read_sizes"], mix["write_sizes"]) == ({"4 KiB": 40}, {"1000 B": 80})
    # The small files are written in order, the large one is read at random places.
    assert mix["random_from"] == "2 KiB"
    recorded = {share.operation: share.recorded for share in fitted.shares}
    assert recorded == pytest.approx(
        {"stat": 120 / 280, "create": 40 / 280, "write": 80 / 280, "read": 40 / 280}
    )
    distance = sum(abs(share.recorded - share.fitted) for share in fitted.shares) / 2
    assert fitted.goodness.operation_distance == pytest.approx(distance)
    assert distance < 0.1
    assert (fitted.goodness.read_size_distance, fitted.goodness.write_size_distance) == (0, 0)


def test_a_mix_is_simulated_and_carried_out(tmp_path: Path) -> None:
    output, folder = tmp_path / "mix.toml", tmp_path / "bench"
    folder.mkdir()
    done = command("trace", "mix", trace(tmp_path), "-o", output)
    assert done.returncode == 0, done.stderr
    assert "left out: the order of operations" in done.stdout
    for line in (("run", output), ("bench", "run", output, folder)):
        done = command(*line, "--json", "--no-store")
        assert done.returncode == 0, done.stderr
        operations = json.loads(done.stdout)["operations"]
        assert sum(it["count"] for it in operations.values()) == 280
    # Its think time is not that of a load that comes at a rate.
    loaded = MixedLoad(str(output), seconds=1, warm_up=0).at(50)
    assert tomllib.loads(loaded.toml)["workload"][0]["rate"] == 50


@pytest.mark.parametrize("name", ["build.strace", "git.strace", "log.csv", "dftracer"])
def test_what_a_mix_lacks_is_said(name: str) -> None:
    path = TRACES / ("two-files.pfw" if name == "dftracer" else name)
    fitted = fit_mix(path)
    comments = [line for line in fitted.toml.splitlines() if line.startswith("# Left out: ")]
    assert comments == [f"# Left out: {text}." for text in fitted.not_reproduced]
    assert sum(share.recorded for share in fitted.shares) == pytest.approx(1)


def test_files_of_one_process_each_are_said_to_be_all_processes(tmp_path: Path) -> None:
    done = command("trace", "synth", tmp_path / "own.csv", "--processes", "3", "--file-per-process")
    assert done.returncode == 0, done.stderr
    fitted = fit_mix(tmp_path / "own.csv")
    assert any("3 are of one process, 0 of several" in text for text in fitted.not_reproduced)


def test_a_trace_without_operations_of_a_mix_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(HEADER + "0,1,seek,/a,0,0,0\n")
    done = command("trace", "mix", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no operation that a mix can have" in done.stderr
    done = command("trace", "mix", path, "-o", path)
    assert done.returncode == 2 and "is " in done.stderr and path.read_text().startswith("time")
