"""The tables of docs/validation/schedulers.md are what the shipped scenarios give."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import headrace as hr

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation" / "schedulers.md"
TUTORIAL = ROOT / "docs" / "tutorials" / "own-scheduler.md"


def table(after: str) -> list[list[str]]:
    """The cells of the first table after some text."""
    lines = PAGE.read_text().split(after, 1)[1].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def sets(values: dict[str, Any], path: str = "scheduler") -> Iterator[tuple[str, Any]]:
    """A table's values by their paths."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from sets(value, f"{path}.{key}")
        else:
            yield f"{path}.{key}", value


def measured(scenario: str, fields: str) -> dict[str, Any]:
    values = tomllib.loads(f"it = {{ {fields} }}")["it"]
    file = ROOT / "scenarios" / f"{scenario}.toml"
    groups: dict[str, Any] = hr.run(hr.load(file, dict(sets(values))), trust=True).document[
        "groups"
    ]
    return groups


BATCH = "schedulers-two-groups"
SERVERS = "schedulers-one-and-all-servers"


@pytest.mark.parametrize("row", table(f"{BATCH}.toml"), ids=lambda row: row[0])
def test_batch_and_interactive(row: list[str]) -> None:
    fields, *shown = row
    found = measured(BATCH, re.sub("`", "", fields))
    batch, interactive = found["batch"], found["interactive"]
    latency = interactive["latency"]["read"]
    got = [
        batch["throughput"]["write"] / 1e6,
        interactive["operations"]["read"]["per_second"],
        latency["mean"] * 1e3,
        latency["p99"] * 1e3,
    ]
    assert [float(cell.replace(",", "")) for cell in shown] == pytest.approx(got, rel=0.02, abs=0.1)


@pytest.mark.parametrize("row", table(f"{SERVERS}.toml"), ids=lambda row: row[0])
def test_one_and_all_servers(row: list[str]) -> None:
    fields, *shown = row
    found = measured(SERVERS, re.sub("`", "", fields))
    got = [found[group]["throughput"]["write"] / 1e6 for group in ("wide", "narrow")]
    assert [float(cell) for cell in shown] == pytest.approx(got, rel=0.02)


def test_the_tutorial_shows_a_class_that_gives_what_the_shipped_one_does(tmp_path: Path) -> None:
    code = TUTORIAL.read_text().split("```python\n")[1].split("```")[0]
    (tmp_path / "shown.py").write_text(code)
    own = {"scheduler.python": "shown:ShortestFirst", "scheduler.folder": str(tmp_path)}
    file = ROOT / "scenarios" / f"{BATCH}.toml"
    shown = hr.run(hr.load(file, own), trust=True).document["groups"]
    assert shown == measured(BATCH, 'python = "shortest:ShortestFirst"')
