"""TOML files whose values know their origin: the base of worksheets and catalogues."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

from headrace import _core
from headrace._core import ScenarioError
from headrace.document_io import display_name, is_stream, read_text, sets_as_texts

Kind = Literal["worksheet", "catalogue"]
Sets: TypeAlias = Mapping[str, Any] | Sequence[str]
"""Values over those of a document: `{"facility.power": "6 kW"}`, or each as `PATH=VALUE`."""

TOML_NAMES = {
    "clients": "client",
    "zones": "zone",
    "flows": "flow",
    "applications": "application",
    "limitations": "limitation",
    "wishes": "wish",
    "disks": "disk",
    "nodes": "node",
    "shelves": "shelf",
    "networks": "network",
}
"""Lists of the Python types by the names of their sections in TOML."""
TOML_FIELDS = {
    ("flow", "source"): "from",
    ("flow", "target"): "to",
    ("data", "data_class"): "class",
    ("disk", "disk_class"): "class",
}
"""Fields of the Python types that TOML calls otherwise, by section."""


def load_document(kind: Kind, path: str | PathLike[str], sets: Sets) -> _core.Document:
    """Load a document from a file or a pipe; `-` is standard input. Raises ScenarioError."""
    path = Path(path)
    with sets_as_texts(sets) as texts:
        if not is_stream(path):
            return _core.Document.from_file(kind, path, texts)
        text = read_text(path, f"a {kind} in TOML")
        return _core.Document.from_text(kind, text, display_name(path), texts)


@dataclass(frozen=True)
class Answer:
    """A field of a document and where its value comes from."""

    path: str
    """The field as `--set` names it: `facility.power`."""
    value: str | None
    """Its value as TOML; None if there is none."""
    origin: str
    """`FILE:LINE:COLUMN`, `--set PATH=VALUE`, `default` or `not given`."""
    source: str
    """Source of a default, or what holds without the field; empty if the user gave it."""

    @property
    def is_given(self) -> bool:
        """True if the user gave it."""
        return self.origin not in ("default", "not given")


class DocumentFile:
    """A document that has been loaded, with the origins of its values."""

    def __init__(self, loaded: _core.Document) -> None:
        self._loaded = loaded
        rows = (Answer(*row) for row in loaded.rows)
        self._answers = {answer.path: answer for answer in rows}

    @property
    def text(self) -> str:
        """The whole document as TOML, defaults written out; it loads to an equal document."""
        return self._loaded.toml

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All fields, in the order of the reference."""
        return tuple(self._answers.values())

    def origin(self, path: str) -> str:
        """Return where a field's value comes from: `lab.toml:12:9`, or its default's source.

        Args:
            path: The field by its name in TOML or in the Python type: `facility.power`,
                `zone.0.share`, `zones.0.share`.

        Raises:
            KeyError: There is no such field.
        """
        answer = self._answers[toml_path(path)]
        if answer.is_given:
            return answer.origin
        return f"{answer.origin}: {answer.source}" if answer.source else answer.origin

    def error(self, path: str, message: str) -> ScenarioError:
        """Return the error about the value of a field, with its place in the file.

        Args:
            path: The field, as for `origin`.
            message: What was expected, or what to write instead.
        """
        return self._loaded.refusal(toml_path(path), message)


def toml_names(folder: Traversable) -> tuple[str, ...]:
    """Return the names of the TOML files of a folder without their suffix, in order."""
    names = (Path(entry.name) for entry in folder.iterdir())
    return tuple(sorted(name.stem for name in names if name.suffix == ".toml"))


def toml_path(path: str) -> str:
    """Return a field's path by its names in TOML, whichever names it is given by."""
    parts = [TOML_NAMES.get(part, part) for part in path.split(".")]
    # The fields `clients` and `zones` of an application are called so in TOML too.
    if len(parts) == 3 and parts[0] == "application" and parts[2] in ("client", "zone"):
        parts[2] = f"{parts[2]}s"
    if len(parts) == 3:
        parts[2] = TOML_FIELDS.get((parts[0], parts[2]), parts[2])
    return ".".join(parts)
