"""tools/unchanged.py: results of two versions, compared bit by bit."""

import json
import shutil
from pathlib import Path

import faces
import pytest
import unchanged

import headrace

SCENARIO = """
system = "pvfs2"
clients.count = 2
servers.count = 2
network = { bandwidth = "1 Gbit/s", latency = "0.2 ms" }
servers.device = { kind = "simple", read_rate = "60 MB/s", write_rate = "60 MB/s" }
[[workload]]
kind = "ior"
block = "1 MiB"
transfer = "256 KiB"
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source with one small scenario."""
    folder = tmp_path / "source" / "scenarios"
    folder.mkdir(parents=True)
    (folder / "small.toml").write_text(SCENARIO)
    return tmp_path / "source"


def package(folder: Path) -> unchanged.Version:
    """A copy of the package, as another version."""
    own = Path(headrace.__file__).parent
    shutil.copytree(own, folder / "headrace", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for extension in own.glob("*.so"):
        (folder / "headrace" / extension.name).symlink_to(extension)
    return unchanged.Version(folder.name, folder)


def test_a_changed_constant_is_found(tmp_path: Path, source: Path) -> None:
    base = unchanged.Version("base", Path(headrace.__file__).parents[1])
    other = package(tmp_path / "other")
    (case,) = unchanged.scenarios(source)
    cache = tmp_path / "cache"
    same = unchanged.compare(case, base, other, 60, cache)
    assert (same.verdict, same.details) == ("equal", ())
    file = other.python / "headrace" / "simulate" / "runs.py"
    text = file.read_text()
    changed = text.replace(
        "this = loaded\n", 'this = loaded.with_sets(["network.latency=0.3 ms"])\n'
    )
    assert changed != text
    file.write_text(changed)
    # The document of the base comes from the cache.
    found = unchanged.compare(case, unchanged.Version("base", tmp_path), other, 60, cache)
    assert found.verdict == "DIFFERENT"
    # Not only the scenario's text, but its results too.
    assert not all(it.startswith("scenario") for it in found.details), found.details


def test_a_case_over_the_limit_is_named(tmp_path: Path, source: Path) -> None:
    base = unchanged.Version("base", Path(headrace.__file__).parents[1])
    (case,) = unchanged.scenarios(source)
    left_out = unchanged.compare(case, base, base, 0.001, tmp_path)
    assert list(unchanged.table([left_out], [left_out])) == [
        "scenarios/small.toml  left out   takes more than 0.001 s with base",
        "1 cases: 0 equal, 0 DIFFERENT, 1 left out",
    ]


def test_a_case_that_fails_with_one_version_differs(tmp_path: Path, source: Path) -> None:
    base = unchanged.Version("base", Path(headrace.__file__).parents[1])
    (case,) = unchanged.scenarios(source)
    other = package(tmp_path / "other")
    (other.python / "headrace" / "simulate" / "runs.py").write_text("raise OSError")
    assert unchanged.compare(case, base, other, 60, tmp_path / "1").verdict == "DIFFERENT"
    assert unchanged.compare(case, other, base, 60, tmp_path / "2").verdict == "DIFFERENT"
    assert unchanged.compare(case, other, other, 60, tmp_path / "3").verdict == "left out"


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"wall_seconds": 1, "x": [1]}, {"wall_seconds": 2, "x": [1]}, []),
        ({"x": [1.0, {"y": 0.1}]}, {"x": [1.0, {"y": 0.1 + 2**-56}]}, ["x[1].y: "]),
        (
            {"what": "time to simulate 64 clients", "ours": "2 s", "holds": True},
            {"what": "time to simulate 64 clients", "ours": "3 s", "holds": False},
            ["holds: true → false"],
        ),
        ({"what": "latency", "ours": "2 s"}, {"what": "latency", "ours": "3 s"}, ["ours: "]),
        ({"x": 1}, {"x": 1.0}, ["x: 1 → 1.0"]),
        ({"x": None}, {"x": 0}, ["x: null → 0"]),
        ({"x": [1]}, {"x": [1, 2]}, ["x: 1 → 2 elements"]),
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}, ["document: keys "]),
    ],
)
def test_documents_are_compared_to_the_bit(before: object, after: object, found: list[str]) -> None:
    differences = list(unchanged.differences(before, after))
    assert len(differences) == len(found)
    assert all(one.startswith(it) for one, it in zip(differences, found, strict=True))


CHANGES = {
    "help/headrace run.txt": ("cli/run_scenario.py", "Write every request", "Write requests"),
    "a run/60.txt": ("views/simulated.py", '"busy %"', '"used %"'),
    "a run/200.txt": ("views/simulated.py", '"busy %"', '"used %"'),
    "a run/files/utilisation.svg.txt": (
        "views/simulation_charts.py",
        "Utilisation of",
        "Use of",
    ),
    "results/stored/100.txt": ("views/simulated.py", '"busy %"', '"used %"'),
    "results/stored/csv.txt": ("store/csv_table.py", '"figure"', '"named"'),
    "pages/results stored.txt": ("web/pages/results/one.py", "Change and run again", "Change"),
    "pages/results.txt": ("web/pages/results/listing.py", "Previous", "Before"),
}
"""A face, and a change that it shows: a file, a text of it and another one."""


def test_a_change_of_each_face_is_found(tmp_path: Path, source: Path) -> None:
    run = headrace.run(headrace.load(source / "scenarios" / "small.toml"))
    document = tmp_path / "stored.json"
    document.write_text(json.dumps(run.document))
    line = "run scenarios/small.toml --no-store --plot out"
    cases = {
        "command": [{"name": "a run", "line": line}],
        "help": ["run"],
        "page": ["/results"],
        "document": [document],
    }
    base = unchanged.Version("base", Path(headrace.__file__).parents[1])
    same = package(tmp_path / "same")
    alike = unchanged.compare_faces(base, same, source, cases, 2)
    assert [it.details for it in alike if it.verdict != "equal"] == []
    assert set(CHANGES) <= {it.case.name for it in alike}
    other = package(tmp_path / "other")
    for name, before, after in set(CHANGES.values()):
        file = other.python / "headrace" / name
        text = file.read_text()
        assert before in text, name
        file.write_text(text.replace(before, after))
    found = unchanged.compare_faces(base, other, source, cases, 2)
    assert set(CHANGES) <= {it.case.name for it in found if it.verdict == "DIFFERENT"}


@pytest.mark.parametrize("time", ["21.8 s", "987 µs", "987 us", "0.5 ms", "3 min"])
def test_the_time_of_a_run_is_no_face(time: str) -> None:
    text = f"1 s simulated in {time}, 225 events"
    for pattern, replacement in faces.VARYING:
        text = pattern.sub(replacement, text)
    assert text == "1 s simulated in …, 225 events"
