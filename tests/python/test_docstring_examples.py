"""Everything public has a docstring, types and examples, and the examples give what they show."""

import ast
import doctest
import functools
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest

import headrace as hr
from conftest import ROOT
from darshan_logs import log

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
PACKAGE = ROOT / "python" / "headrace"
PAGE = re.compile(r"^::: (\S+)(?:\n    options:\n      members: \[(.*)\])?", re.MULTILINE)
"""An entry of the Python reference, and the names of it that the page has."""
NOT_RUN = {
    "measure_baseline": "takes ten seconds of the disk",
    "measure_with_kernel_trace": "only root may trace the kernel",
}
"""Public names whose examples are not run, and the reasons."""


def public() -> Iterator[Any]:
    """Yield all that `headrace`, its public modules and the Python reference name."""
    for name in hr.__all__:
        value = getattr(hr, name)
        yield from _of_module(value) if inspect.ismodule(value) else [value]
    for page in sorted((ROOT / "docs" / "reference" / "python").glob("*.md")):
        for path, names in PAGE.findall(page.read_text()):
            value = pkgutil.resolve_name(path)
            if names:
                yield from (getattr(value, name) for name in names.split(", "))
            else:
                yield from _of_module(value) if inspect.ismodule(value) else [value]


def _of_module(module: Any) -> Iterator[Any]:
    """Yield the names in `__all__`; without it, those that the module itself defines."""
    own = [name for name in vars(module) if name[0] != "_"]
    for name in getattr(module, "__all__", own):
        value = getattr(module, name)
        if hasattr(module, "__all__") or getattr(value, "__module__", "") == module.__name__:
            yield value


@functools.cache
def _definitions(path: Path) -> dict[str, ast.ClassDef | Function]:
    """Return the classes and functions of a file or stub by their qualified names."""
    definitions: dict[str, ast.ClassDef | Function] = {}

    def add(node: ast.Module | ast.ClassDef, prefix: str) -> None:
        for inner in node.body:
            if isinstance(inner, ast.ClassDef | Function):
                definitions.setdefault(f"{prefix}{inner.name}", inner)
            if isinstance(inner, ast.ClassDef):
                add(inner, f"{prefix}{inner.name}.")

    add(ast.parse(path.read_text()), "")
    return definitions


def source(value: Any) -> tuple[str, dict[str, ast.ClassDef | Function]]:
    """Return the qualified name of a class or function, and the definitions of its file."""
    # Editors read the stub of what is compiled.
    compiled = value.__module__ in ("headrace", "headrace._core", "builtins")
    file = PACKAGE / "_core.pyi" if compiled else inspect.getsourcefile(inspect.unwrap(value))
    return value.__qualname__, _definitions(Path(str(file)))


@dataclass
class Entry:
    """A public function, or a public class with its methods and properties."""

    name: str
    docstring: str
    members: dict[str, Function] = field(default_factory=dict)
    docstrings: dict[str, str] = field(default_factory=dict)
    """Docstrings of the members, which may be inherited."""

    @property
    def texts(self) -> dict[str, str]:
        """All docstrings by their full names."""
        members = {f"{self.name}.{name}": text for name, text in self.docstrings.items()}
        return {self.name: self.docstring} | members


def entry(value: Any) -> Entry:
    """Return the entry of a class or function."""
    name, definitions = source(value)
    node = definitions[name]
    whole = Entry(f"{value.__module__}.{name}", ast.get_docstring(node) or "")
    if not inspect.isclass(value):
        assert not isinstance(node, ast.ClassDef)
        whole.members[""] = node
        return whole
    above: set[str] = set()
    for base in (one for one in value.__mro__ if one.__module__.startswith("headrace")):
        for member, inner in _members(base):
            if base in PUBLIC and base is not value:
                above.add(member)
            whole.members.setdefault(member, inner)
            whole.docstrings[member] = (
                whole.docstrings.get(member) or ast.get_docstring(inner) or ""
            )
    # Members of another public class are described there.
    for member in above:
        del whole.members[member], whole.docstrings[member]
    return whole


def _members(value: type) -> Iterator[tuple[str, Function]]:
    """Yield the public methods and properties that a class itself defines."""
    name, definitions = source(value)
    for path, node in definitions.items():
        owner, _, member = path.rpartition(".")
        if owner == name and member[0] != "_" and not isinstance(node, ast.ClassDef):
            yield member, node


PUBLIC = {
    one
    for value in public()
    for one in [value if inspect.isfunction(value) or inspect.isclass(value) else type(value)]
    if one.__module__.startswith("headrace")
}
ENTRIES = {one.name: one for one in sorted(map(entry, PUBLIC), key=lambda one: one.name)}
EXAMPLES = {
    name: test
    for one in ENTRIES.values()
    for name, text in one.texts.items()
    if (test := doctest.DocTestParser().get_doctest(text, {}, name, None, None)).examples
}


@pytest.mark.parametrize("name", ENTRIES)
def test_all_parts_have_docstrings_types_and_examples(name: str) -> None:
    whole = ENTRIES[name]
    assert [path for path, text in whole.texts.items() if not text] == []
    assert [path for path, node in whole.members.items() if not _is_typed(node)] == []
    code = "".join(
        example.source
        for path in whole.texts
        if path in EXAMPLES
        for example in EXAMPLES[path].examples
    )
    assert code, f"{name} has no example"
    used = {getattr(node, "attr", getattr(node, "name", "")) for node in ast.walk(ast.parse(code))}
    missing = {*whole.docstrings} - used
    assert not missing, f"no example of {name} uses {', '.join(sorted(missing))}"


def _is_typed(node: Function) -> bool:
    """Return whether all parameters but the instance, and the result, have types."""
    given = node.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    bare = [one.arg for one in named if one is not None and one.annotation is None]
    return node.returns is not None and not {*bare} - {"self", "cls"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_docstring_run(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in ("scenarios", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "ior.darshan").symlink_to(log("ior_hdf5_example"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADRACE_STORE", str(tmp_path / "store"))
    # As in a notebook, where scenarios may name a class by `__main__:Class`.
    session = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", session)
    vars(session)["hr"] = hr
    EXAMPLES[name].globs = vars(session)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(EXAMPLES[name], out=report.append).failed == 0, "".join(report)


def test_the_examples_that_are_not_run_have_reasons() -> None:
    skipped = {
        name.rpartition(".")[2]
        for name, test in EXAMPLES.items()
        if any(doctest.SKIP in example.options for example in test.examples)
    }
    assert skipped == {*NOT_RUN}


@pytest.mark.parametrize("value", [hr.Job, hr.Scheduler, hr.ServerState])
def test_a_stub_begins_as_the_compiled_docstring(value: type) -> None:
    whole = entry(value)
    assert whole.docstring.startswith(inspect.getdoc(value) or "none")
    for name, text in whole.docstrings.items():
        assert text.startswith(inspect.getdoc(getattr(value, name)) or "none")


def test_names_of_all_kinds_are_known() -> None:
    names = {name.removeprefix("headrace.") for name in ENTRIES}
    assert {"simulate.runs.run", "Job", "design.search.solution.solve"} <= names
    assert len(names) > 130 and sum(len(one.docstrings) for one in ENTRIES.values()) > 280
