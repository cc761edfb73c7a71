"""Worksheets as TOML files."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import msgspec

from headrace import _core
from headrace.design.document_file import DocumentFile, Sets, load_document
from headrace.design.worksheet import Worksheet


class LoadedWorksheet(DocumentFile):
    """A worksheet with the origins of its answers.

    Examples:
        >>> loaded = hr.design.load_worksheet("scenarios/design/lab.toml")
        >>> loaded.worksheet.capacity.usable, loaded.origin("capacity.usable")
        (20000000000000.0, 'scenarios/design/lab.toml:46:10')
        >>> print(loaded.error("capacity.usable", "expected less"))
        scenarios/design/lab.toml:46:10: capacity.usable = "20 TB": expected less
        >>> loaded.answers[0].value, loaded.text.splitlines()[0]
        ('"20 TB lab"', 'name = "20 TB lab"')
        >>> loaded.check_profiles()
    """

    def __init__(self, loaded: _core.Document) -> None:
        super().__init__(loaded)
        self.worksheet: Worksheet = msgspec.json.decode(loaded.json, type=Worksheet)
        """The requirements, in SI units."""

    def check_profiles(self) -> None:
        """Check that the profiles of the applications exist.

        Raises:
            ScenarioError: A file is missing: where the worksheet names it.
        """
        for number, application in enumerate(self.worksheet.applications):
            if application.profile is not None and not Path(application.profile).exists():
                message = "there is no such file: expected a profile, a workload or a trace"
                raise self.error(f"application.{number}.profile", message)


def load_worksheet(path: str | PathLike[str], sets: Sets = ()) -> LoadedWorksheet:
    """Load a worksheet from a TOML file.

    Args:
        path: The file.
        sets: Answers that replace those of the file: `{"facility.power": "6 kW"}`.

    Raises:
        ScenarioError: The file cannot be read, or something in it is wrong: `FILE:LINE:COLUMN`,
            what was written, what was expected.

    Examples:
        >>> hr.design.load_worksheet("scenarios/design/lab.toml").worksheet.name
        '20 TB lab'
    """
    return LoadedWorksheet(load_document("worksheet", path, sets))


def read_worksheet(
    text: str, file: str | PathLike[str] = "worksheet.toml", sets: Sequence[str] = ()
) -> LoadedWorksheet:
    """Load a worksheet from TOML text; `file` is its name in errors.

    Raises:
        ScenarioError: As `load_worksheet`.
    """
    return LoadedWorksheet(_core.Document.from_text("worksheet", text, file, list(sets)))
