"""Measure how often facts are repeated, and fail if a figure exceeds its budget.

    python tools/house.py            # each figure beside its budget
    python tools/house.py --lower    # lower budgets to the present figures

budget.toml has the budgets. A change that needs more removes something else. Only a commit for a
new feature raises one, and says so. `make house` runs this, and so does `make lint`.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "headrace"
BUDGET = Path(__file__).with_name("budget.toml")
KINDS = frozenset({"load-sweep", "study", "tuning", "network", "jobs", "baseline"})
"""Some kinds of results. A file that has at least `MOST_KINDS` of them has a table of kinds."""
MOST_KINDS = 4
DRAWING = ("rich", "matplotlib")
PRESENTATION = ("drawing", "report", "views", "web")
VAGUE = frozenset({"it", "found", "what", "wanted", "made", "of"})
"""Names that say nothing of what they hold."""
ROOM = 100
"""Large figures have budgets in whole hundreds."""
LARGEST = 10**9
NUMBERS = frozenset({"int", "float", "None"})
PRECISION = re.compile(r"\.\d")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def python_files(folder: Path = PACKAGE) -> tuple[Path, ...]:
    """Return the modules of a folder."""
    return tuple(sorted(folder.rglob("*.py")))


@cache
def tree(file: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(file.read_text(encoding="utf-8"))


def nodes() -> Iterator[ast.AST]:
    """Yield all nodes of the package."""
    for file in python_files():
        yield from ast.walk(tree(file))


def functions() -> Iterator[Function]:
    """Yield all functions of the package."""
    return (node for node in nodes() if isinstance(node, Function))


def lines(*folders: str, suffix: str = "py") -> int:
    """Return the number of lines below folders of the repository."""
    files = (file for folder in folders for file in (ROOT / folder).rglob(f"*.{suffix}"))
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


OPTIONS = [
    ROOT / "docs" / "reference" / f"{name}.md" for name in ("options", "fio-options", "ior-mdtest")
]
"""Pages that are tables of options, of commands and of other programs. Their words are counted by
themselves: they grow with the commands, and may not take the room of pages that people write."""


def words_of_docs() -> int:
    """Return the number of words of the documentation, without the tables of options."""
    pages = (ROOT / "docs").rglob("*.md")
    return sum(words(page) for page in pages if page not in OPTIONS)


def words(page: Path) -> int:
    """Return the number of words of a page."""
    return len(page.read_text(encoding="utf-8").split())


def room(file: Path, package: Path | None = None) -> str:
    """Return the package, or the module, right below `headrace`."""
    return file.relative_to(package or PACKAGE).parts[0].removesuffix(".py")


def imported(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the rooms that a module imports, late imports too, and the lines of the imports."""
    for node in ast.walk(tree(file)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
            if node.module == "headrace":
                names = [f"headrace.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (
            (node.lineno, name.split(".")[1]) for name in names if name.startswith("headrace.")
        )


def two_way_pairs() -> int:
    """Return the number of pairs of rooms that import each other."""
    arrows = {(room(file), other) for file in python_files() for _, other in imported(file)}
    return sum((other, one) in arrows for one, other in arrows if one < other)


def late_imports() -> int:
    """Return the number of imports of the package within functions."""
    return sum(
        isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headrace")
        for function in functions()
        for node in ast.walk(function)
    )


def drawing_outside_render() -> int:
    """Return the number of modules outside `render` that import a library that draws."""
    return sum(
        room(file) != "render"
        and any(
            name.split(".")[0] in DRAWING
            for node in ast.walk(tree(file))
            for name in _modules(node)
        )
        for file in python_files()
    )


def _modules(node: ast.AST) -> Sequence[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def tables_of_kinds() -> int:
    """Return the number of modules that name most kinds of results."""
    return sum(len(KINDS & texts(file)) >= MOST_KINDS for file in python_files())


def texts(file: Path) -> set[str]:
    """Return the string constants of a module."""
    constants = (node for node in ast.walk(tree(file)) if isinstance(node, ast.Constant))
    return {constant.value for constant in constants if isinstance(constant.value, str)}


def files_that_name(word: str) -> int:
    """Return the number of source files, without tests, that have a word."""
    pattern = re.compile(rf"\b{word}\b", re.IGNORECASE)
    sources = [
        *python_files(),
        *(
            file
            for file in (ROOT / "crates").rglob("*.rs")
            if not {"tests", "tests.rs"} & {*file.parts}
        ),
    ]
    return sum(bool(pattern.search(file.read_text(encoding="utf-8"))) for file in sources)


def formatters() -> int:
    """Return the number of functions outside quantities.py that write a number as text."""
    return sum(
        _writes_a_number(node)
        for file in python_files()
        if file.name != "quantities.py"
        for node in ast.walk(tree(file))
        if isinstance(node, Function)
    )


def _writes_a_number(function: Function) -> bool:
    if not (isinstance(function.returns, ast.Name) and function.returns.id == "str"):
        return False
    given = [arg for arg in function.args.args if arg.arg not in ("self", "cls")]
    first = given[0].annotation if given else None
    if first is None or not _names(first) <= NUMBERS:
        return False
    return any(
        isinstance(node, ast.FormattedValue)
        and node.format_spec is not None
        and PRECISION.search(ast.unparse(node.format_spec))
        for node in ast.walk(function)
    )


def _names(annotation: ast.expr) -> set[str]:
    text = ast.unparse(annotation)
    return set(re.findall(r"\w+", text)) or {text}


def string_keys() -> int:
    """Return the number of accesses by a constant key in presentation."""
    return sum(
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
        for file in python_files()
        if room(file) in PRESENTATION
        for node in ast.walk(tree(file))
    )


def untyped_dictionaries() -> int:
    """Return the number of annotations `dict[str, Any]`."""
    return sum(
        isinstance(node, ast.Subscript) and ast.unparse(node) == "dict[str, Any]"
        for node in nodes()
    )


def longest_function() -> int:
    """Return the number of lines of the longest function."""
    return max((it.end_lineno or it.lineno) - it.lineno + 1 for it in functions())


def most_parameters() -> int:
    """Return the number of parameters of the function that has most."""
    return max(len(it.args.args) + len(it.args.kwonlyargs) for it in functions())


def vague_names() -> int:
    """Return the number of variables and parameters with a name of `VAGUE`."""
    stored = (
        node.id
        for node in nodes()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    given = (node.arg for node in nodes() if isinstance(node, ast.arg))
    return sum(name in VAGUE for names in (stored, given) for name in names)


REPORT = tuple(f"python/headrace/{name}" for name in ("report", "views", "render"))
FIGURES: dict[str, Callable[[], int]] = {
    "lines of report, views, render": lambda: lines(*REPORT),
    "lines of drawing": lambda: lines("python/headrace/drawing"),
    "lines of web": lambda: lines("python/headrace/web"),
    "lines of cli, commands": lambda: lines("python/headrace/cli", "python/headrace/commands"),
    "lines of design": lambda: lines("python/headrace/design"),
    "lines of profile": lambda: lines("python/headrace/profile"),
    "lines of net": lambda: lines("python/headrace/net"),
    "lines of the package": lambda: lines("python/headrace"),
    "files of the package": lambda: len(python_files()),
    "lines of crates spec, model": lambda: lines("crates/spec", "crates/model", suffix="rs"),
    "words of docs": words_of_docs,
    "words of the tables of options": lambda: sum(map(words, OPTIONS)),
    "two-way pairs of rooms": two_way_pairs,
    "imports within functions": late_imports,
    "files that draw outside render": drawing_outside_render,
    "tables of kinds of results": tables_of_kinds,
    "files that name getxattr": lambda: files_that_name("getxattr"),
    "files that name kyber": lambda: files_that_name("kyber"),
    "files that name dsfq": lambda: files_that_name("dsfq"),
    "formatters outside quantities": formatters,
    "string keys in presentation": string_keys,
    "untyped dictionaries": untyped_dictionaries,
    "lines of the longest function": longest_function,
    "parameters of a function": most_parameters,
    "vague names": vague_names,
}
"""What is measured, by its name in budget.toml."""


def budgets() -> dict[str, int]:
    """Return the budgets by the names of the figures."""
    return dict(tomllib.loads(BUDGET.read_text(encoding="utf-8")))


def lowered(figures: Iterable[tuple[str, int]], known: dict[str, int]) -> str:
    """Return the text of budget.toml with budgets that exceed no figure and none before."""
    head = [line for line in BUDGET.read_text(encoding="utf-8").splitlines() if line[:1] == "#"]
    rows = [
        f'"{name}" = {min(_with_room(value), known.get(name, LARGEST))}' for name, value in figures
    ]
    return "\n".join([*head, "", *rows]) + "\n"


def _with_room(value: int) -> int:
    """Return the budget of a figure: a large one has room for mends."""
    return -(-value // ROOM) * ROOM if value >= 10 * ROOM else value


def main() -> int:
    """Print the figures. Returns 1 if one exceeds its budget."""
    parser = argparse.ArgumentParser(description="Measure repetition beside its budget.")
    parser.add_argument("--lower", action="store_true", help="lower budgets to the figures")
    parser.add_argument("--quiet", action="store_true", help="print only what exceeds its budget")
    options = parser.parse_args()
    known = budgets()
    figures = [(name, measure()) for name, measure in FIGURES.items()]
    over = [name for name, value in figures if value > known.get(name, value)]
    for name, value in figures:
        mark = "  EXCEEDED" if name in over else ""
        if mark or not options.quiet:
            print(f"{name:32} {value:>8,} of {known.get(name, value):>8,}{mark}")
    if options.lower:
        BUDGET.write_text(lowered(figures, known), encoding="utf-8")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
