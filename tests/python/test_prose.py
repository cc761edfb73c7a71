"""tools/prose_lint.py: what it counts and what it leaves alone."""

import ast
import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

PARAMETERS = re.compile(r"^Parameters:\n((?:    .*\n?|\n)+)", re.MULTILINE)
LONG = " ".join(["word"] * 26)


def lint(path: Path, *options: str) -> list[str]:
    """Rules that a file breaks, each as `line: rule`."""
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "prose_lint.py", path, *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == bool(run.stdout), run.stderr
    return [":".join(line.split(":")[1:3]) for line in run.stdout.splitlines()]


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_long_sentences_are_found_by_line(tmp_path: Path) -> None:
    assert lint(page(tmp_path, f"Short.\n\nShort too.\n{LONG}.\n")) == ["4: length"]
    assert lint(page(tmp_path, LONG[5:] + ". " + LONG[5:] + ".")) == []


def test_each_item_of_a_list_is_a_sentence(tmp_path: Path) -> None:
    half = LONG[: len(LONG) // 2]
    assert lint(page(tmp_path, f"{half}:\n\n- {half}\n- {half}\n1. {half}\n")) == []


def test_code_tables_headings_and_link_targets_are_not_counted(tmp_path: Path) -> None:
    text = f"# {LONG}\n\n```sh\n{LONG}\n```\n\n| {LONG} |\n\nA [link](a/b.md) and `{LONG}`.\n"
    assert lint(page(tmp_path, text)) == []


def test_openings_are_found_but_not_in_questions(tmp_path: Path) -> None:
    assert lint(page(tmp_path, "What it does is slow. Whether it ends?\nOf two, one.\n")) == [
        "1: opening",
        "2: opening",
    ]


def test_words_are_found_in_tables_but_not_in_code(tmp_path: Path) -> None:
    assert lint(page(tmp_path, "| anew |\n\nThe `ladder` and the laboratory.\n")) == [
        "1: word",
        "3: word",
    ]


def test_abbreviations_and_decimals_end_no_sentence(tmp_path: Path) -> None:
    text = "Liu et al. " + " ".join(["1.5"] * 22) + "."
    assert lint(page(tmp_path, text)) == []
    assert lint(page(tmp_path, text[:-1] + " more words.")) == ["1: length"]


def test_docstrings_are_read_by_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(f'"""Short."""\n\n\ndef run() -> None:\n    """Run.\n\n    {LONG}.\n    """\n')
    assert lint(path) == ["7: length"]


def test_doctests_are_not_prose(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(f'"""Short.\n\n>>> {LONG}\n{LONG}\n\n{LONG}.\n"""\n')
    assert lint(path) == ["6: length"]


def rust(folder: Path, text: str) -> Path:
    path = folder / "module.rs"
    path.write_text(text, encoding="utf-8")
    return path


def test_rust_comments_are_read_by_their_lines(tmp_path: Path) -> None:
    text = f"//! Short.\n//! {LONG}.\n\n/// What it is.\nfn run() {{\n    // {LONG}\n}}\n"
    assert lint(rust(tmp_path, text)) == ["2: length", "4: opening", "6: length"]


def test_a_comment_of_another_kind_is_another_sentence(tmp_path: Path) -> None:
    half = LONG[: len(LONG) // 2]
    assert lint(rust(tmp_path, f"//! {half}\n/// {half}\n// {half}\n")) == []
    assert lint(rust(tmp_path, f"/// {half}\n/// {half} {half}\n")) == ["1: length"]


def test_code_drawings_and_licences_in_rust_comments_are_not_prose(tmp_path: Path) -> None:
    comments = [
        f"// SPDX-License-Identifier: {LONG}",
        f"// {LONG} ──▶ {LONG}",
        f"// let of = run({LONG});",
        f"//! ```\n//! {LONG}\n//! ```",
        f"//! Text:\n//!\n//!     {LONG}",
        f"/// `{LONG}`",
        f"let text = 1; // {LONG}",
    ]
    assert lint(rust(tmp_path, "\n\n".join(comments) + "\n")) == []


def test_the_reason_of_unsafe_code_is_prose(tmp_path: Path) -> None:
    assert lint(rust(tmp_path, "// SAFETY: nobody has it.\n// SAFETY: it is ours.\n")) == [
        "1: word"
    ]


def test_the_documentation_is_clean() -> None:
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "prose_lint.py"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout


def test_documented_parameters_are_those_of_the_function() -> None:
    wrong = []
    for file in (ROOT / "python" / "headrace").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            section = PARAMETERS.search(ast.get_docstring(node) or "")
            given = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
            named = (
                re.findall(r"^    \*{0,2}(\w+):", section.group(1), re.MULTILINE) if section else []
            )
            wrong += [f"{file.name}: {node.name}: {name}" for name in named if name not in given]
    assert wrong == []
