"""Catalogues as TOML files, and those that ship with Headrace."""

from collections.abc import Sequence
from importlib.resources import files
from os import PathLike
from pathlib import Path

import msgspec

from headrace import _core
from headrace.design.catalogue import Catalogue
from headrace.design.document_file import DocumentFile, load_document, toml_names

DEFAULT = "example-2026"
"""The shipped catalogue that is used where none is named."""
_FOLDER = files("headrace.design") / "catalogues"


class LoadedCatalogue(DocumentFile):
    """A catalogue with the origins of its values."""

    def __init__(self, loaded: _core.Document) -> None:
        super().__init__(loaded)
        catalogue = msgspec.json.decode(loaded.json, type=Catalogue)
        # A disk without a factor of its own fails as those of published fleets.
        disks = (
            disk
            if self._answers[f"disk.{number}.failure_factor"].is_given
            else msgspec.structs.replace(disk, failure_factor=None)
            for number, disk in enumerate(catalogue.disks)
        )
        self.catalogue = msgspec.structs.replace(catalogue, disks=tuple(disks))
        """What can be bought, in SI units."""


def shipped_catalogues() -> tuple[str, ...]:
    """Return the names of the catalogues that ship with Headrace."""
    return toml_names(_FOLDER)


def load_catalogue(
    path: str | PathLike[str] | None = None, sets: Sequence[str] = ()
) -> LoadedCatalogue:
    """Load a catalogue.

    Args:
        path: A TOML file, or the name of a shipped catalogue; None: the example catalogue.
        sets: Values that replace those of the file, each as `PATH=VALUE`.

    Raises:
        ScenarioError: The file cannot be read, or something in it is wrong: `FILE:LINE:COLUMN`,
            what was written, what was expected.
    """
    text = catalogue_source(path)
    if path is None or text is not None:
        return read_catalogue(text or "", f"{path or DEFAULT}.toml", sets)
    return LoadedCatalogue(load_document("catalogue", path, sets))


def catalogue_source(path: str | PathLike[str] | None = None) -> str | None:
    """Return the text of a shipped catalogue, comments included; None if `path` is a file."""
    name = DEFAULT if path is None else str(path)
    if path is not None and (name not in shipped_catalogues() or Path(name).exists()):
        return None
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def read_catalogue(
    text: str, file: str | PathLike[str] = "catalogue.toml", sets: Sequence[str] = ()
) -> LoadedCatalogue:
    """Load a catalogue from TOML text; `file` is its name in errors.

    Raises:
        ScenarioError: As `load_catalogue`.
    """
    return LoadedCatalogue(_core.Document.from_text("catalogue", text, file, list(sets)))
