"""The list of models is that of the heads of their files."""

import subprocess
import sys
from pathlib import Path

import model_heads
import pytest

from conftest import ROOT


def test_the_page_of_models_is_up_to_date() -> None:
    checked = subprocess.run(
        [sys.executable, ROOT / "tools/model_heads.py", "--check"], capture_output=True, text=True
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_a_head_is_read_without_code_and_links(tmp_path: Path) -> None:
    file = tmp_path / "disk.rs"
    file.write_text(
        "//! A disk, as in [`super`]\n//! or [others](crate::others).\n//!\n//! ```text\n"
        "//! Not modelled: a picture\n//! ```\n//!\n//! Not modelled: seeks, and E\\[S\\];\n"
        "//! rotation.\n\nfn disk() {}\n"
    )
    head = model_heads.model_head(file)
    assert head is not None
    assert head.summary == "A disk, as in `super` or others."
    assert head.omissions == ["seeks, and E\\[S\\]", "rotation"]


@pytest.mark.parametrize(
    "text", ["A disk. Not modelled: seeks.", "A.\n\nNot modelled: b.\n\nNot modelled: c."]
)
def test_omissions_are_one_paragraph(tmp_path: Path, text: str) -> None:
    file = tmp_path / "disk.rs"
    file.write_text("\n".join(f"//! {line}".rstrip() for line in text.split("\n")))
    with pytest.raises(ValueError, match="expected one paragraph"):
        model_heads.model_head(file)
