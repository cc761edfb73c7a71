"""An extension is one file of its own and few lines of registration, and CONTRIBUTING names them.

`test_commands.py` and `test_kinds.py` add a command and a kind of result; extensions in Rust are
counted by an existing example, since adding one means a build.
"""

import re

import pytest

from conftest import ROOT

FOLDERS = ("crates", "python/headrace")
CONTRIBUTING = ROOT / "CONTRIBUTING.md"


def files_that_name(word: str) -> set[str]:
    """Return the source files, without tests, that have a word."""
    pattern = re.compile(rf"\b{word}\b")
    return {
        str(file.relative_to(ROOT))
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".py", ".rs", ".toml") and not {"tests", "tests.rs"} & {*file.parts}
        if pattern.search(file.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize(
    ("example", "own", "registration"),
    [
        (
            "Crrn",
            {
                "crates/spec/src/sections/scheduler/crrn.rs",
                "crates/storage/src/qos/crrn.rs",
            },
            {
                "crates/spec/src/sections/scheduler/mod.rs",
                "crates/storage/src/qos/mod.rs",
            },
        ),
        (
            "Kyber",
            {
                "crates/spec/src/sections/io_scheduler/kyber.rs",
                "crates/storage/src/iosched/kyber.rs",
            },
            {
                "crates/spec/src/sections/io_scheduler/mod.rs",
                "crates/storage/src/iosched/mod.rs",
            },
        ),
        ("tencent", {"crates/trace/src/formats/tencent.rs"}, {"crates/trace/src/formats.rs"}),
        (
            "Fstatfs",
            {"crates/load/src/operation/fstatfs.rs"},
            {
                "crates/load/src/operation/mod.rs",
                "crates/spec/src/sections/workload/operation_mix.rs",
            },
        ),
        (
            "fewer_syncs",
            set(),
            {"python/headrace/profile/advice/__init__.py"},
        ),
    ],
    ids=["scheduler", "I/O scheduler", "trace format", "operation", "advice"],
)
def test_an_extension_is_its_file_and_a_registration(
    example: str, own: set[str], registration: set[str]
) -> None:
    assert files_that_name(example) == own | registration


def test_contributing_names_files_that_exist() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    points = text.partition("## Extension points")[2].partition("\n## ")[0]
    paths = re.findall(r"`((?:crates|python|docs|tools)/[\w./-]+)`", points)
    assert len(paths) > 20
    missing = [path for path in paths if not list(ROOT.glob(path.replace("NAME", "*")))]
    assert missing == []
