"""Check that dependencies of modules have one direction.

    python tools/arrows.py              # the crates and the package of tools/arrows.toml
    python tools/arrows.py --print      # every dependency of their modules

`tools/arrows.toml` lists the modules of each crate and of the package `headrace`, the highest
first. A module is a file or a directory of the source. It may use modules of lower lines only, not
those of its own line. Imports within functions and for types count. `exceptions` lists pairs of a
user and a module above it. The exit status is 1 if another module uses one above it, if a module
is not listed, or if an exception is not needed.

Not checked: tests, paths that a macro makes, imports by a name that is a text, names that the
package itself exports, and dependencies inside a directory.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from house import PACKAGE, ROOT, imported, python_files, room

TABLE = Path(__file__).with_suffix(".toml")

COMMENT = re.compile(r"//.*")
REEXPORT = re.compile(r"\bpub(?:\([a-z]+\))? use (\w+)::([^;]+);")
NAME = re.compile(r"\w+")
TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))? )?mod (\w+);")
TESTS = re.compile(r"^#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))? )?mod \w+ \{.*?^\}$", re.M | re.S)


@dataclass(frozen=True)
class Arrow:
    """A use of one module by another."""

    file: Path
    line: int
    user: str
    used: str


def test_files(parent: Path) -> Iterator[Path]:
    """Yield the files of the modules that a file has for tests only."""
    folder = parent.parent if parent.name in {"mod.rs", "lib.rs"} else parent.with_suffix("")
    for name in TEST_MODULE.findall(parent.read_text(encoding="utf-8")):
        yield folder / f"{name}.rs"
        yield folder / name / "mod.rs"


def is_python(source: Path) -> bool:
    """Return whether a source is a Python package, and no crate."""
    return (source / "__init__.py").exists()


def modules(source: Path) -> dict[str, list[Path]]:
    """Return the files of each module, without the root: `lib.rs` or `__init__.py`."""
    found: dict[str, list[Path]] = {}
    if is_python(source):
        for file in python_files(source):
            found.setdefault(room(file, source), []).append(file)
        del found["__init__"]
        return found
    tests = {file for parent in source.rglob("*.rs") for file in test_files(parent)}
    for file in sorted(source.rglob("*.rs")):
        name = file.relative_to(source).parts[0].removesuffix(".rs")
        if name != "lib" and file not in tests:
            found.setdefault(name, []).append(file)
    return found


def exported(source: Path) -> dict[str, str]:
    """Return the module of each name that `lib.rs` exports."""
    text = COMMENT.sub("", (source / "lib.rs").read_text(encoding="utf-8"))
    return {
        name: module for module, names in REEXPORT.findall(text) for name in NAME.findall(names)
    }


def first_names(path: str) -> Iterator[tuple[int, str]]:
    """Yield the first name of each path that a text starts with, and its position.

    The text follows `crate::`: one path, or several in braces.
    """
    if not path.startswith("{"):
        if found := NAME.match(path):
            yield 0, found[0]
        return
    depth = 0
    starts = False
    for at, character in enumerate(path):
        if character == "{":
            depth += 1
            starts = depth == 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return
        elif character == ",":
            starts = depth == 1
        elif starts and not character.isspace():
            starts = False
            if found := NAME.match(path, at):
                yield at, found[0]


def roots(file: Path, source: Path) -> list[str]:
    """Return the prefixes by which a file names its crate's root."""
    *folders, last = file.relative_to(source).parts
    depth = len(folders) + (last != "mod.rs")
    return [r"\bcrate::", rf"(?m)^(?:pub(?:\([a-z]+\))? )?use (?:super::){{{depth}}}(?!super)"]


def arrows(source: Path) -> Iterator[Arrow]:
    """Yield the uses of modules by others."""
    all_modules = modules(source)
    if is_python(source):
        for user, files in all_modules.items():
            for file in files:
                for line, used in imported(file):
                    if used in all_modules and used != user:
                        yield Arrow(file, line, user, used)
        return
    names = exported(source)
    for user, files in all_modules.items():
        for file in files:
            text = COMMENT.sub("", file.read_text(encoding="utf-8"))
            # Lines keep their numbers.
            text = TESTS.sub(lambda tests: "\n" * tests[0].count("\n"), text)
            for prefix in roots(file, source):
                for match in re.finditer(prefix, text):
                    for at, name in first_names(text[match.end() :]):
                        used = names.get(name, name)
                        if used in all_modules and used != user:
                            line = text.count("\n", 0, match.end() + at) + 1
                            yield Arrow(file, line, user, used)


def turned(
    source: Path, lines: Sequence[Sequence[str]], exceptions: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the errors of a source whose modules have this order, the highest first.

    An exception is a user and a module above it, such as "measure report".
    """
    unneeded = set(exceptions)
    level = {name: number for number, line in enumerate(lines) for name in line}
    found = modules(source)
    for name in found.keys() - level.keys():
        yield f"{found[name][0]}:1: {name} is not in {TABLE.name}: add it to the order"
    for name in level.keys() - found.keys():
        yield f"{source}: there is no module {name}: remove it from {TABLE.name}"
    for arrow in arrows(source):
        if {arrow.user, arrow.used} <= level.keys() and level[arrow.user] >= level[arrow.used]:
            pair = f"{arrow.user} {arrow.used}"
            unneeded.discard(pair)
            if pair not in exceptions:
                yield (
                    f"{arrow.file}:{arrow.line}: {arrow.user} uses {arrow.used}, which is not below"
                    f" it in {TABLE.name}: move the item to the lower module"
                )
    for pair in sorted(unneeded):
        yield f"{source}: the exception {pair!r} is not needed: remove it from {TABLE.name}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the crates and the package of the table. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Check the direction of dependencies.")
    parser.add_argument("--print", action="store_true", help="print every dependency")
    options = parser.parse_args(arguments)
    errors: list[str] = []
    for name, order in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        source = PACKAGE if name == PACKAGE.name else ROOT / "crates" / name / "src"
        if options.print:
            uses = sorted({(it.user, it.used) for it in arrows(source)})
            print("\n".join(f"{name}: {user} → {used}" for user, used in uses))
        lines = [line.split() for line in order["modules"]]
        errors += turned(source, lines, order.get("exceptions", ()))
    print("\n".join(errors), end="\n" if errors else "", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
