"""A report as PDF, set by Typst with the fonts that it ships.

Texts are handed over as data and not as markup, so that none is evaluated.
"""

import re
from importlib.resources import files
from typing import Any

import msgspec

from headrace.late_imports import imports_of
from headrace.plain_text import plain
from headrace.report.document.content import Footnote, Report
from headrace.report.document.footnotes import numbered

LONG_WORD = re.compile(r"[^\s]{24,}")
ZERO_WIDTH = "\N{ZERO WIDTH SPACE}"
PIECE = 12
"""Letters of a long word after which a line may end."""
NOT_TEXTS = ("svg", "type", "align", "identifier", "language", "style", "key")


def render(report: Report) -> bytes:
    """Return the PDF document of a report. Equal reports give equal documents."""
    with imports_of("pdf"):
        import typst

    notes = numbered(report)
    content = _prepare(msgspec.to_builtins(report))
    content["footer"] = content["title"]
    _number(content, notes)
    template = files(__package__).joinpath("report.typ").read_bytes()
    return typst.compile(
        template,
        format="pdf",
        ignore_system_fonts=True,
        sys_inputs={"report": msgspec.json.encode(content).decode()},
        timestamp=0,
    )


def _number(content: Any, notes: list[Footnote]) -> None:
    """Replace the footnotes by those that are shown, and references by their numbers.

    The first reference outside the footnotes is marked: its footnote leads back to it.
    """
    numbers = {one.key: number for number, one in enumerate(notes, 1)}
    by_key = {footnote["key"]: footnote for footnote in content["footnotes"]}
    content["footnotes"] = [by_key[one.key] for one in notes]
    cited: set[int] = set()

    def number_in(value: Any, *, in_note: bool) -> None:
        if isinstance(value, list):
            for part in value:
                number_in(part, in_note=in_note)
        elif isinstance(value, dict) and value.get("type") == "reference":
            number = value["number"] = numbers[value.pop("note")]
            value["first"] = not in_note and number not in cited
            if not in_note:
                cited.add(number)
        elif isinstance(value, dict):
            for part in value.values():
                number_in(part, in_note=in_note)

    number_in(content["sections"], in_note=False)
    for number, note in enumerate(content["footnotes"], 1):
        note["number"], note["cited"] = number, number in cited
    number_in(content["footnotes"], in_note=True)


def _prepare(value: Any) -> Any:
    """Return content with places in long words at which a line may end: Typst breaks none."""
    if isinstance(value, dict):
        if value.get("type") == "reference":
            return dict(value)
        return {name: part if name in NOT_TEXTS else _prepare(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_prepare(part) for part in value]
    if isinstance(value, str):
        return LONG_WORD.sub(lambda pair: _breakable(pair[0]), plain(value))
    return value


def _breakable(word: str) -> str:
    return ZERO_WIDTH.join(word[at : at + PIECE] for at in range(0, len(word), PIECE))
