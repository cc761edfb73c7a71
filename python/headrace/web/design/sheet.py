"""A worksheet that is being edited: its text, its answers by field, and what is wrong with it."""

import copy
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headrace._core import ScenarioError
from headrace.design.catalogue import Catalogue
from headrace.design.evaluation import Violation
from headrace.design.worksheet_file import LoadedWorksheet, read_worksheet
from headrace.toml_positions import FieldPath
from headrace.web.design.fields import fields_of, section_of, value_of
from headrace.web.scenario_text import (
    UnchangeableText,
    document_of,
    path_at,
    remove_value,
    set_value,
    value_at,
)

FILE = "worksheet.toml"
"""Name of the text in errors, and as a file of a job."""
FOLDER = "/worksheet/"
"""Where the text seems to be: paths in it become absolute."""
EMPTY = """\
# A storage configuration worksheet. Leave unknown answers out.
[capacity]
"""
REFERENCES: Mapping[str, tuple[str, ...]] = {
    "zone": ("zone",),
    "zones": ("zone",),
    "clients": ("client",),
    "from": ("zone", "client", "outside"),
    "to": ("zone", "client", "outside"),
}
"""Fields that name entries of lists, with the lists."""
UPLOADS = "uploads"
"""Folder in which a worksheet names files that its user has uploaded."""


class SheetError(msgspec.Struct, frozen=True):
    """Why a text is no worksheet."""

    message: str
    line: int | None = None
    column: int | None = None
    text: str = ""
    """Field and value, as the text has them."""
    field: str = ""
    """Path of the field or table where it is; empty if it is at none."""

    @property
    def path(self) -> FieldPath:
        """Path of the field as names."""
        return tuple(self.field.split(".")) if self.field else ()


class CheckedSheet(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of `headrace design check`."""

    error: SheetError | None = None
    name: str = ""
    unknown: tuple[str, ...] = ()
    """Unknown answers that matter, with what they cost in certainty."""
    contradictions: tuple[Violation, ...] = ()
    """Requirements that no system can meet together."""
    sources: Mapping[str, str] = {}
    """Where each default comes from, or what holds without the answer, by field."""
    defaults: Mapping[str, str] = {}
    """Values that hold without an answer, by field."""


def load_sheet(text: str, uploads: Path | None = None) -> LoadedWorksheet:
    """Load a worksheet from its text.

    Parameters:
        text: The TOML text.
        uploads: Directory of the user's uploaded files, which profiles may name.

    Raises:
        ScenarioError: There is a mistake in it, or it names a file that is no upload of the user.
    """
    loaded = read_worksheet(text, f"{FOLDER}{FILE}")
    for number, application in enumerate(loaded.worksheet.applications):
        name = application.profile
        if name is not None and not _is_upload(name, uploads):
            raise loaded.error(
                f"application.{number}.profile",
                f"expected {UPLOADS}/NAME, the name of a file that you have uploaded",
            )
    return loaded


def check_sheet(text: str, catalogue: Catalogue, uploads: Path | None = None) -> CheckedSheet:
    """Check a text as `headrace design check` does.

    Parameters:
        text: The TOML text.
        catalogue: The catalogue whose limits the requirements are compared with.
        uploads: Directory of the user's uploaded files, which profiles may name.
    """
    from headrace.design.contradictions import contradictions
    from headrace.design.recommendation import unknown_answers

    try:
        loaded = load_sheet(text, uploads)
    except ScenarioError as error:
        return CheckedSheet(error=sheet_error(text, error))
    rows = [answer for answer in loaded.answers if not answer.is_given]
    return CheckedSheet(
        name=loaded.worksheet.name,
        unknown=unknown_answers(loaded.worksheet),
        contradictions=contradictions(loaded.worksheet, catalogue),
        sources={row.path: row.source for row in rows if row.source},
        defaults={row.path: row.value for row in rows if row.value is not None},
    )


def sheet_error(text: str, error: ScenarioError) -> SheetError:
    """Return an error with the path of its field."""
    message = error.message
    named, separator, _ = error.text.partition(" = ")
    path = tuple(named.split(".")) if separator else ()
    if not path and error.line is not None:
        path = path_at(text, error.line, error.column) or ()
    missing = re.match(r'missing field "([^"]+)"', message)
    if missing is not None:
        path = (*path, missing[1])
    section = re.match(r"missing section \[([a-z_]+)\]", message)
    if section is not None:
        path = (section[1], "usable") if section[1] == "capacity" else (section[1],)
    return SheetError(message, error.line, error.column, error.text, ".".join(path))


class Sheet:
    """The text of a worksheet and changes by field, which keep its comments."""

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def document(self) -> Mapping[str, Any] | None:
        """The tables of the text; None if it is not TOML."""
        return document_of(self.text)

    def value(self, path: FieldPath) -> Any:
        """Return the answer of a field; None if there is none."""
        return value_at(self.document, path)

    def count(self, path: FieldPath) -> int:
        """Return the number of entries of a list of tables."""
        value = self.value(path)
        return len(value) if isinstance(value, list) else 0

    def enter(self, path: FieldPath, entered: str) -> None:
        """Change an answer; an empty one is taken out of the text. Raises UnchangeableText."""
        field = next((one for one in fields_of(path[:-1]) if one.name == path[-1]), None)
        if field is None:
            raise UnchangeableText(f"{'.'.join(path)} is no question of the worksheet")
        value = value_of(entered, field)
        if value is not None:
            self.text = set_value(self.text, path, value)
        elif self.value(path) is not None:
            # Entries of lists count, even if they have no answer.
            self.text = remove_value(self.text, path)

    def add(self, path: FieldPath) -> None:
        """Add an entry to a list of tables. Raises UnchangeableText.

        It has a name that no other has, and the zone or clients that come first.
        """
        at = (*path, str(self.count(path)))
        text = self.text
        for field in fields_of(path):
            value: Any = None
            if field.name == "name":
                value = self._new_name(path)
            elif field.name in REFERENCES:
                known = self.names(*REFERENCES[field.name])
                value = value_of(known[0], field) if known and field.required else None
            elif field.required and field.kind == "choice":
                value = field.example
            if value is not None:
                text = set_value(text, (*at, field.name), value)
        self.text = text

    def remove(self, path: FieldPath) -> None:
        """Remove an entry of a list of tables. Raises UnchangeableText."""
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        expected = copy.deepcopy(document_of(self.text))
        try:
            entries = value_at(expected, path[:-1])
            del entries[int(path[-1])]
            if not entries:
                del value_at(expected, path[:-2])[path[-2]]
            document = tomlkit.parse(self.text)
            table: Any = document
            for name in path[:-2]:
                table = table[name]
            if entries:
                del table[path[-2]][int(path[-1])]
            else:
                del table[path[-2]]
            text = tomlkit.dumps(document)
        except (TOMLKitError, LookupError, TypeError, ValueError):
            text = ""
        if document_of(text) != expected:
            raise UnchangeableText(
                f"{'.'.join(path)} cannot be removed here: remove it in the text"
            )
        self.text = text

    def _new_name(self, path: FieldPath) -> str:
        taken = self.names(path[-1])
        numbers = range(1, len(taken) + 2)
        return next(name for n in numbers if (name := f"{path[-1]} {n}") not in taken)

    def names(self, *lists: str) -> list[str]:
        """Return the names of the entries of lists, such as those of all zones."""
        document = self.document or {}
        names = [
            str(table["name"])
            for name in lists
            for table in _tables(document.get(name))
            if table.get("name")
        ]
        if "outside" in lists:
            names += [str(name) for name in document.get("outside") or ()]
        return list(dict.fromkeys(names))


def _tables(value: Any) -> Sequence[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _is_upload(name: str, uploads: Path | None) -> bool:
    folder, separator, file = name.removeprefix(FOLDER).partition("/")
    plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}", file) is not None
    return (
        bool(separator and folder == UPLOADS and plain and uploads is not None)
        and (Path(uploads or ".") / file).is_file()
    )


def answered(sheet: Sheet, section: str) -> tuple[int, int]:
    """Return how many questions of a page have an answer, and how many there are."""
    from headrace.web.design.fields import sections

    page = next(each for each in sections() if each.name == section)
    given = total = 0
    document = sheet.document or {}
    for group in page.groups:
        entries = (
            [(*group.path, str(at)) for at in range(sheet.count(group.path))]
            if group.is_list
            else [group.path]
        )
        for entry in entries:
            for field in group.fields:
                total += 1
                given += value_at(document, (*entry, field.name)) not in (None, "", [])
    return given, total


def page_of(field: str) -> str | None:
    """Return the page of a field given as `zone.0.share` or `zones[].share`."""
    from headrace.design.document_file import toml_path

    plain = field.replace("[]", ".0")
    return section_of(tuple(toml_path(plain).split(".")))
