"""A report as PDF, set by Typst with the fonts that it ships.

Texts are handed over as data and not as markup, so that none is evaluated.
"""

import re
from importlib.resources import files
from typing import Any

import msgspec

from headrace.report.document.content import Report
from headrace.report.plain_text import plain

LONG_WORD = re.compile(r"[^\s]{24,}")
ZERO_WIDTH = "\N{ZERO WIDTH SPACE}"
PIECE = 12
"""Letters of a long word after which a line may end."""
NOT_TEXTS = ("svg", "type", "align", "identifier", "language", "style")


def render(report: Report) -> bytes:
    """Return the PDF document of a report. Equal reports give equal documents."""
    # It takes a while to load.
    import typst

    content = _prepare(msgspec.to_builtins(report))
    content["footer"] = content["title"]
    template = files(__package__).joinpath("report.typ").read_bytes()
    return typst.compile(
        template,
        format="pdf",
        ignore_system_fonts=True,
        sys_inputs={"report": msgspec.json.encode(content).decode()},
        timestamp=0,
    )


def _prepare(value: Any, key: str = "") -> Any:
    """Return content with places in long words at which a line may end: Typst breaks none."""
    if isinstance(value, dict):
        return {name: it if name in NOT_TEXTS else _prepare(it, name) for name, it in value.items()}
    if isinstance(value, list | tuple):
        return [_prepare(it, key) for it in value]
    if isinstance(value, str):
        return LONG_WORD.sub(lambda it: _breakable(it[0]), plain(value))
    return value


def _breakable(word: str) -> str:
    return ZERO_WIDTH.join(word[at : at + PIECE] for at in range(0, len(word), PIECE))
