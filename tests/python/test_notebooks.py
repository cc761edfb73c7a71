"""The example notebooks run, and what they show is kept."""

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
sys.path.insert(0, str(ROOT / "tools"))

notebook_pages = import_module("notebook_pages")
notebook_page = notebook_pages.notebook_page
execute = import_module("notebooks").execute
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def name(path: Path) -> str:
    return path.stem


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_it_runs_and_shows_the_same_kinds_of_output(path: Path) -> None:
    kept, ran = nbformat.read(path, as_version=4), execute(path)
    for before, after in zip(code(kept), code(ran), strict=True):
        kinds = [
            [sorted(it.get("data", {})) for it in cell.outputs if it.get("name") != "stderr"]
            for cell in (before, after)
        ]
        assert kinds[0] == kinds[1], before.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_it_is_kept_executed_and_small(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert [cell.execution_count for cell in code(notebook)] == list(
        range(1, len(code(notebook)) + 1)
    )
    text = path.read_text(encoding="utf-8")
    assert len(text) < 400_000
    # Nothing of the machine on which it was executed.
    assert str(ROOT) not in text
    assert "<script" not in text
    assert not re.search(r'"name": "stderr"', text)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_its_page_has_code_outputs_and_pictures(path: Path) -> None:
    page = notebook_page(path)
    assert page.markdown.startswith("# ")
    assert "```python\n" in page.markdown
    assert page.pictures
    for picture, content in page.pictures.items():
        assert f"({picture})" in page.markdown
        start = b"<svg" if picture.endswith(".svg") else b"\x89PNG"
        assert content.startswith(start)


def test_the_gallery_has_a_question_and_a_picture_of_each() -> None:
    blocks = notebook_pages.gallery(NOTEBOOKS).strip().split("\n\n")
    assert len(blocks) == 3 * len(NOTEBOOKS)
    for path, title, question, picture in zip(
        NOTEBOOKS, blocks[::3], blocks[1::3], blocks[2::3], strict=True
    ):
        assert title.startswith("## [")
        assert title.endswith(f"]({path.name})")
        assert question.endswith((".", "?"))
        assert re.search(rf"\]\({path.stem}-\d\.(png|svg)\)", picture)


def test_a_notebook_without_cells_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.ipynb"
    path.write_text('{"cells": []}')
    with pytest.raises(ValueError, match="expected a notebook with cells"):
        notebook_page(path)
