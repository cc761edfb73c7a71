"""Commands import what they use: imports take longer than a small simulation."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import SMALL

TABLES = ("numpy", "polars")
DATABASE = ("alembic", "sqlalchemy")
FOR_PEOPLE = ("rich",)
NEVER = ("lifelines", "matplotlib", "optuna", "pandas", "psutil", "scipy", "headrace.cli.bench")
"""Modules that no command below may import."""
SOBOL = ("--sensitivity", "sobol", "--samples", "4")

PROGRAM = """
import sys
from headrace.cli.app import run
status = run(sys.argv[1:])
print("\\nimported", *sys.modules)
sys.exit(status)
"""


def imported(arguments: Sequence[str], directory: Path) -> set[str]:
    """Run a command in a new process and return the modules that it imported."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"HEADRACE_STORE": str(directory / "store")},
    )
    return set(ended.stdout.splitlines()[-1].split()[1:])


@pytest.fixture(scope="module")
def with_catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a scenario, and a store whose catalogue exists: making it takes more."""
    directory = tmp_path_factory.mktemp("imports")
    file = directory / "small.toml"
    file.write_text(SMALL)
    imported(["run", str(file)], directory)
    return directory


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--version"], (*TABLES, *DATABASE, *FOR_PEOPLE, "headrace.simulate")),
        (["presets"], (*TABLES, *DATABASE)),
        (["explain", "FILE"], (*TABLES, *DATABASE, *FOR_PEOPLE)),
        (["run", "FILE", "--no-store", "--json"], (*TABLES, *DATABASE, *FOR_PEOPLE)),
        (["run", "FILE", "--no-store"], (*TABLES, *DATABASE, "rich.progress")),
        (["run", "FILE", "--json"], ("numpy", *DATABASE, *FOR_PEOPLE)),
        (["run", "FILE"], ("numpy", *DATABASE, "rich.progress")),
        (["results", "list", "--json"], (*TABLES, "alembic", *FOR_PEOPLE)),
        (["results", "list"], (*TABLES, "alembic")),
    ],
    ids=" ".join,
)
def test_a_command_imports_only_what_it_uses(
    arguments: list[str], unwanted: Sequence[str], with_catalogue: Path
) -> None:
    file = str(with_catalogue / "small.toml")
    found = imported([file if it == "FILE" else it for it in arguments], with_catalogue)
    assert "headrace.cli.app" in found
    assert not found & {*unwanted, *NEVER}


def test_the_server_starts_without_the_search() -> None:
    code = "import sys, headrace.web.server; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(ended.stdout.split()) & {"alembic", "lifelines", "optuna", "scipy"}


@pytest.mark.parametrize("module", ["headrace.design.spares", "headrace.design.reliability.laws"])
def test_a_module_is_imported_alone(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("SALib", "sensitivity", ["sweep", "s.toml", "--vary=clients.count=2..8", *SOBOL]),
        ("lifelines", "lifetimes", ["design", "lifetimes", "disks.csv"]),
        ("typst", "pdf", ["net", "draw", "s.toml", "-o", "net.png"]),
        ("nicegui", "web", ["serve"]),
    ],
)
def test_a_command_names_the_extra_that_it_lacks(
    package: str, extra: str, arguments: list[str], tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(SMALL)
    rows = [f"x,{age},{age % 2}" for age in range(100, 160)]
    (tmp_path / "disks.csv").write_text("\n".join(["model,age,failed", *rows]))
    without = f"import sys; sys.modules[{package!r}] = None\n{PROGRAM}"
    ended = subprocess.run(
        [sys.executable, "-c", without, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ended.returncode == 2
    assert f"{package} is not installed: pip install 'headrace[{extra}]'" in ended.stderr
