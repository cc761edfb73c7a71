"""tools/unchanged.py: results of two versions, compared bit by bit."""

import shutil
from pathlib import Path

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
    changed = text.replace("this = loaded\n", 'this = loaded.with_sets(["layout.unit=16 KiB"])\n')
    assert changed != text
    file.write_text(changed)
    # The document of the base comes from the cache.
    found = unchanged.compare(case, unchanged.Version("base", tmp_path), other, 60, cache)
    assert found.verdict == "DIFFERENT"
    assert any(it.startswith(("latency", "events")) for it in found.details)


def test_a_case_over_the_limit_is_named(tmp_path: Path, source: Path) -> None:
    base = unchanged.Version("base", Path(headrace.__file__).parents[1])
    (case,) = unchanged.scenarios(source)
    left_out = unchanged.compare(case, base, base, 0.001, tmp_path)
    assert list(unchanged.table([left_out])) == [
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
