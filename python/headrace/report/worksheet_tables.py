"""A checked worksheet as tables for a terminal."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.design.evaluation import Violation
from headrace.design.worksheet_file import LoadedWorksheet
from headrace.plain_text import plain, plain_line
from headrace.render.fitted_table import FittedTable


def worksheet_check(
    loaded: LoadedWorksheet, unknown: Sequence[str], clashes: Sequence[Violation]
) -> RenderableType:
    """Return how many answers each section has, what contradicts itself, and what is unknown.

    Args:
        loaded: The worksheet.
        unknown: Unknown answers that matter, with what they cost in certainty.
        clashes: Requirements that contradict each other.
    """
    parts: list[RenderableType] = [
        Text(plain_line(f"{loaded.worksheet.name}: {_verdict(unknown, clashes)}"), style="bold"),
        _sections(loaded),
    ]
    if clashes:
        parts.append(Text("\nContradictions", style="bold"))
        parts += [Text(plain(f"- {_clash(loaded, it)}"), style="red") for it in clashes]
    if unknown:
        parts.append(Text("\nUnknown answers, and what they cost in certainty", style="bold"))
        parts.append(Text("\n".join(f"- {plain_line(it)}" for it in unknown)))
    return Group(*parts)


def _verdict(unknown: Sequence[str], clashes: Sequence[Violation]) -> str:
    if clashes:
        return f"{_count(len(clashes), 'contradiction')}: no system meets all requirements"
    if unknown:
        return f"valid; {_count(len(unknown), 'question')} without an answer"
    return "valid; all questions that matter are answered"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _clash(loaded: LoadedWorksheet, clash: Violation) -> str:
    error = loaded.error(clash.field, clash.message)
    where = ":".join(str(it) for it in (error.file, error.line, error.column) if it is not None)
    return f"{where}: {clash.field}: {clash.message} (wanted {clash.wanted}, got {clash.got})"


def _sections(loaded: LoadedWorksheet) -> FittedTable:
    """Return the number of answers that each section has, by their origin."""
    given: Counter[str] = Counter()
    defaults: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    entries: dict[str, set[str]] = {}
    order: dict[str, None] = {}
    for answer in loaded.answers:
        section, *rest = answer.path.split(".")
        section = section if rest else "top level"
        if rest and rest[0].isdigit():
            entries.setdefault(section, set()).add(rest[0])
        origins = {"default": defaults, "not given": missing}
        order.setdefault(section)
        origins.get(answer.origin, given)[section] += 1
    columns = ("section", "entries", "given", "by default", "not given")
    table = FittedTable("Answers", 1, columns, ("by default",))
    for section in order:
        count = str(len(entries[section])) if section in entries else ""
        table.add_row(
            section, count, str(given[section]), str(defaults[section]), str(missing[section])
        )
    return table
