"""tools/house.py: figures of repetition, and their budgets."""

import ast
from pathlib import Path

import house
import pytest


def test_each_figure_has_a_budget() -> None:
    assert list(house.budgets()) == list(house.FIGURES)


def test_budgets_only_fall() -> None:
    known = {"words": 1300, "lines": 10, "files": 4}
    text = house.lowered([("words", 1201), ("lines", 12), ("files", 3), ("new", 5)], known)
    assert text.splitlines()[-4:] == ['"words" = 1300', '"lines" = 10', '"files" = 3', '"new" = 5']


@pytest.mark.parametrize(
    ("source", "writes"),
    [
        ("def text(value: float) -> str:\n    return f'{value:.3f}'", True),
        ("def text(self, value: float | None) -> str:\n    return f'{value:,.2f} s'", True),
        ("def text(value: float) -> str:\n    return figure(value)", False),
        ("def text(name: str) -> str:\n    return f'{0.5:.1f} {name}'", False),
        ("def value(text: float) -> float:\n    return text", False),
    ],
)
def test_a_formatter_is_recognised(source: str, writes: bool) -> None:
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    assert house._writes_a_number(function) is writes


def test_a_package_that_is_imported_back_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {
        "store": "from headrace.report import tables\nimport headrace.files",
        "report": "def late():\n    from headrace.store.record import LARGEST",
        "web": "from headrace import report",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.py").write_text(text)
    files = tuple(sorted(tmp_path.rglob("*.py")))
    monkeypatch.setattr(house, "PACKAGE", tmp_path)
    monkeypatch.setattr(house, "python_files", lambda: files)
    assert house.two_way_pairs() == 1
    assert house.late_imports() == 1
    assert house.drawing_outside_render() == 0
