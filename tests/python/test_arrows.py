"""tools/arrows.py: dependencies of modules have one direction."""

from pathlib import Path

import arrows
import pytest

ORDER = [["top", "other"], ["middle"], ["low"]]


def crate(folder: Path, **files: str) -> Path:
    """A crate of empty modules, with these files; `__` stands for a slash."""
    texts = {"lib": "pub use low::Token;", "top": "", "other": "", "middle__mod": "", "low": ""}
    for name, text in (texts | files).items():
        file = folder / f"{name.replace('__', '/')}.rs"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return folder


def package(folder: Path, **files: str) -> Path:
    """A Python package of empty modules, with these files; `__` stands for a slash."""
    texts = {"top": "", "other": "", "middle__deep": "", "low": ""} | files
    (folder / "__init__.py").touch()
    for name, text in texts.items():
        file = folder / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return folder


def test_the_crates_and_the_package_follow_their_order() -> None:
    assert arrows.main([]) == 0


@pytest.mark.parametrize(
    "text",
    [
        "use crate::low::A;",
        "use crate::{low::{A, top}, Token};",
        "use super::low::A;",
        "// use crate::top::A;",
        "use crate::middle::own::A;",
        "use std::a;\n\n#[cfg(test)]\nmod tests {\n    use crate::top::A;\n}\n",
    ],
)
def test_a_use_of_a_lower_module_is_right(tmp_path: Path, text: str) -> None:
    assert list(arrows.turned(crate(tmp_path, middle__mod=text), ORDER)) == []


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("middle__mod", "\nuse crate::top::A;", 2),
        ("middle__mod", "use crate::{\n    low::A,\n    top::{B, C},\n};", 3),
        ("middle__mod", "fn f() { crate::top::f() }", 1),
        ("middle__mod", "use super::top::A;", 1),
        ("middle__file", "use super::super::top::A;", 1),
        ("middle__mod", "#[cfg(test)]\nmod tests {\n}\nuse crate::top::A;", 4),
        # Through a name that the crate exports.
        ("low__file", "use crate::Made;", 1),
        # Of the same line.
        ("top", "use crate::other::A;", 1),
    ],
)
def test_an_arrow_that_turns_back_is_named(tmp_path: Path, name: str, text: str, line: int) -> None:
    source = crate(tmp_path, lib="pub use middle::{Made, Other};", **{name: text})
    (error,) = arrows.turned(source, ORDER)
    assert error.startswith(f"{source / name.replace('__', '/')}.rs:{line}: {name.split('__')[0]} ")


def test_files_of_tests_are_not_checked(tmp_path: Path) -> None:
    source = crate(tmp_path, low="#[cfg(test)]\nmod tests;", low__tests="use crate::top::A;")
    assert list(arrows.turned(source, ORDER)) == []
    assert len(list(arrows.turned(crate(source, low="mod tests;"), ORDER))) == 1


def test_every_module_has_its_line(tmp_path: Path) -> None:
    source = crate(tmp_path, new="")
    assert list(arrows.turned(source, [*ORDER, ["gone"]])) == [
        f"{source / 'new.rs'}:1: new is not in arrows.toml: add it to the order",
        f"{source}: there is no module gone: remove it from arrows.toml",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "from headrace.low import a",
        "def f():\n    from headrace import low",
        "import headrace.middle.other",
        "from headrace import RunError",
        "import os",
    ],
)
def test_an_import_of_a_lower_room_is_right(tmp_path: Path, text: str) -> None:
    assert list(arrows.turned(package(tmp_path, middle__deep=text), ORDER)) == []


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("middle__deep", "from headrace.low import a\nfrom headrace.top.b import c", 2),
        ("middle__deep", "def f():\n    from headrace import low, top", 2),
        ("low", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import headrace.top", 3),
        # Of the same line.
        ("top", "import headrace.other", 1),
    ],
)
def test_an_import_of_a_room_above_is_named(
    tmp_path: Path, name: str, text: str, line: int
) -> None:
    source = package(tmp_path, **{name: text})
    (error,) = arrows.turned(source, ORDER)
    assert error.startswith(f"{source / name.replace('__', '/')}.py:{line}: {name.split('__')[0]} ")


def test_an_exception_is_allowed_as_long_as_it_is_needed(tmp_path: Path) -> None:
    source = package(tmp_path, low="from headrace.top import a")
    assert list(arrows.turned(source, ORDER, ["low top"])) == []
    assert list(arrows.turned(source, ORDER, ["low top", "low middle"])) == [
        f"{source}: the exception 'low middle' is not needed: remove it from arrows.toml"
    ]
