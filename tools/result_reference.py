"""Write the tables of keys of results from the types of their documents and the fields' docstrings.

python tools/result_reference.py           # after a change of a document's type
python tools/result_reference.py --check   # exit status 1 if a page differs

A record has a section of its own if it has more than `INLINE` fields; a smaller one has rows in the
table of the field that holds it. One without docstrings of fields is a list in that row. Fields in
succession without a docstring share a row.
"""

import ast
import inspect
import re
import sys
import textwrap
import types
import typing
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from generated_tables import update

from headrace import kinds
from headrace.environment import Environment

DOCS = Path(__file__).parents[1] / "docs/reference"
TOOL = "tools/result_reference.py"
PAGES = {
    "results.md": (
        *("simulated", "sweep", "whatif", "profile"),
        *("trace-findings", "lifetimes", "spares", "doctor", "testbed"),
    ),
    "benchmark-results.md": (
        *("measured", "load-sweep", "jobs", "study", "tuning", "network", "network-matrix"),
        "baseline",
    ),
}
"""Kinds by the page that has their keys. Those whose documents have no type have no table."""
COMMON = {"kind", "version", "scenario", "environment", "place", "warnings"}
"""Keys of most kinds, which the page describes once."""
TITLES = {"measured": "measurements", "load-sweep": "load-sweeps", "jobs": "job-files"}
"""Anchors of kinds whose heading is not their name."""
INLINE = 3
UNITS = (
    (r"_bytes_per_s$|^throughput$", "bytes/s"),
    (r"_per_second$|^per_second$|_per_s$", "1/s"),
    (r"_s$|seconds$|^mean_latency$", "s"),
    (r"bytes$|^block$", "bytes"),
)
"""Units by the names of fields."""
SECONDS = ", in seconds"
"""Statement of a docstring that the column of units has."""


class Row(NamedTuple):
    """A row: keys that share a unit and a meaning."""

    keys: list[str]
    unit: str
    meaning: str


class Section(NamedTuple):
    """The keys of a record, below their title."""

    title: str
    path: str
    """Path of the record in its document."""
    record: type


def docstrings(record: type) -> dict[str, str]:
    """Return the docstrings of a record's fields by their names, inherited ones too."""
    texts: dict[str, str] = {}
    for each in reversed(record.__mro__):
        if not each.__module__.startswith("headrace"):
            continue
        [body] = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        assert isinstance(body, ast.ClassDef)
        for field, after in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                texts[field.target.id] = text_of(str(after.value.value))
    return texts


def text_of(docstring: str) -> str:
    """Return a docstring on one line, in the words of JSON."""
    line = " ".join(docstring.split()).removesuffix(".")
    line = re.sub(r"\bNone\b", "null", line).replace("|", "\\|")
    return re.sub(r"\b(True|False)\b", lambda match: match.group(1).lower(), line)


def about(record: type) -> str:
    """Return the docstring of a record, without its examples."""
    return text_of((record.__doc__ or "").partition("Examples:")[0])


def fields(record: type) -> dict[str, Any]:
    """Return the types of a record's fields by their names, in the order of the document."""
    hints = typing.get_type_hints(record)
    names = getattr(record, "__struct_fields__", None) or tuple(hints)
    return {name: hints[name] for name in names}


def inner(hint: Any, path: str) -> tuple[Any, str]:
    """Return the type within lists, objects and optional values, and the path to it."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return inner(arguments[0], path)
    if origin in (types.UnionType, typing.Union):
        records = [each for each in arguments if is_record(inner(each, "")[0])]
        known = records or [each for each in arguments if each is not types.NoneType]
        return inner(known[0], path)
    if origin in (list, tuple) and arguments:
        return inner(arguments[0], f"{path}[]")
    if origin is dict:
        return inner(arguments[1], f"{path}.NAME")
    return hint, path


def is_record(hint: Any) -> bool:
    """Return whether a type is a record with fields."""
    return isinstance(hint, type) and (
        hasattr(hint, "__struct_fields__") or typing.is_typeddict(hint)
    )


def is_list(record: type) -> bool:
    """Return whether neither a docstring nor a record within explains a record's fields."""
    has_records = any(is_record(inner(hint, "")[0]) for hint in fields(record).values())
    return not docstrings(record) and not has_records


def unit_of(name: str) -> str:
    """Return the unit of a field."""
    return next((text for pattern, text in UNITS if re.search(pattern, name)), "")


class Tables:
    """The tables of a page: each record has its section once."""

    def __init__(self, known: dict[type, str]) -> None:
        self.known = known
        """Links to the records that have a section."""
        self.labels: dict[type, str] = {}
        """Names of the records that have a section."""
        self.listed: dict[type, str] = {}
        """Keys of the records that have been listed in a row."""
        self.titles: dict[str, str] = {}
        """Kind of the document by the titles of its sections."""
        self.waiting: list[Section] = []
        self.kind = ""
        self.path = ""
        """Path of the record whose table is written."""

    def lines(self, kind: str, record: type) -> Iterator[str]:
        """Yield the table of a document, and the sections of its records."""
        self.kind, self.path = kind, ""
        yield from self.table(record, COMMON)
        while self.waiting:
            section = self.waiting.pop(0)
            self.path = section.path
            yield f"### {section.title}"
            yield ""
            yield f"{about(section.record)}."
            yield ""
            yield from self.table(section.record)

    def table(self, record: type, without: Iterable[str] = ()) -> Iterator[str]:
        """Yield the table of a record, without the fields of a base that has a section."""
        base = next((each for each in record.__mro__[1:] if each in self.known), None)
        if base is not None:
            yield f"The keys of [{self.labels[base]}]({self.known[base]}), and:"
            yield ""
        yield "| key | unit | meaning |"
        yield "| --- | --- | --- |"
        left_out = {*without, *(fields(base) if base else ())}
        for keys, unit, meaning in merged(self.rows(record, "", left_out)):
            yield f"| {', '.join(f'`{key}`' for key in keys)} | {unit} | {meaning} |"
        yield ""

    def rows(self, record: type, before: str, without: Container[str] = ()) -> Iterator[Row]:
        """Yield the rows of a record's fields."""
        texts = docstrings(record)
        for name, hint in fields(record).items():
            if name not in without:
                yield from self.row(f"{before}{name}", name, hint, texts.get(name, ""))

    def row(self, path: str, name: str, hint: Any, text: str) -> Iterator[Row]:
        """Yield the rows of a field."""
        record, key = inner(hint, path)
        if not is_record(record):
            unit = "s" if SECONDS in text else unit_of(name)
            yield Row([key], unit, text.replace(SECONDS, ""))
        elif is_list(record):
            yield Row([key], "", self.list(key, record, text))
        elif record in self.known:
            yield self.link(key, record, text)
        elif len(fields(record)) > INLINE:
            self.known[record] = self.section(key, record)
            self.labels[record] = f"`{key}`"
            yield self.link(key, record, text or about(record).partition(". ")[0])
        else:
            if text:
                yield Row([key], "", text)
            yield from self.rows(record, f"{key}.")

    def list(self, key: str, record: type, text: str) -> str:
        """Return the meaning of a record that is listed in a row, with its keys the first time."""
        before = self.listed.setdefault(record, key)
        if before in (key, ""):
            names = ", ".join(f"`{each}`" for each in fields(record))
            return f"{text or about(record)}: {names}"
        return "; ".join(filter(None, (text, f"as `{before}`")))

    def link(self, key: str, record: type, text: str) -> Row:
        """Return the row of a record that has a section."""
        return Row([key], "", "; ".join(filter(None, (text, f"[keys]({self.known[record]})"))))

    def section(self, key: str, record: type) -> str:
        """Add a section, and return the link to it."""
        path = f"{self.path}.{key}".removeprefix(".")
        title = f"`{path}`"
        if self.titles.setdefault(title, self.kind) != self.kind:
            title += f" of {self.kind}"
        self.waiting.append(Section(title, path, record))
        return "#" + re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def merged(rows: Iterator[Row]) -> list[Row]:
    """Return rows of which neighbours with the same unit and meaning are one."""
    together: list[Row] = []
    for row in rows:
        last = together[-1] if together else None
        if last and row.meaning == last.meaning and row.unit == last.unit:
            last.keys.extend(row.keys)
        else:
            together.append(row)
    return together


def pages() -> dict[Path, dict[str, list[str]]]:
    """Return the tables of each page."""
    result: dict[Path, dict[str, list[str]]] = {}
    for page, names in PAGES.items():
        tables = Tables({Environment: "results.md#the-environment"})
        result[DOCS / page] = {}
        for name in names:
            record = kinds.record_type(name)
            assert record is not None
            result[DOCS / page][name] = list(tables.lines(name, record))
            tables.labels[record] = TITLES.get(name, name)
            tables.known[record] = f"#{tables.labels[record]}"
    result[DOCS / "results.md"]["environment"] = list(Tables({}).table(Environment))
    return result


def main() -> int:
    """Write the pages, or compare them."""
    return update(pages(), TOOL)


if __name__ == "__main__":
    sys.exit(main())
