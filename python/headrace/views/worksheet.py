"""A checked worksheet: its answers, contradictions, and what is unknown."""

from collections import Counter
from collections.abc import Sequence

from headrace.design.evaluation import Violation
from headrace.design.worksheet_file import LoadedWorksheet
from headrace.plain_text import plain_line
from headrace.quantities import numbered
from headrace.render.blocks import Block, Note, Table, View


def view(loaded: LoadedWorksheet, unknown: Sequence[str], clashes: Sequence[Violation]) -> View:
    """Return how many answers each section has, what contradicts itself, and what is unknown.

    Parameters:
        loaded: The worksheet.
        unknown: Unknown answers that matter, with what they cost in certainty.
        clashes: Requirements that contradict each other.
    """
    heading = plain_line(f"{loaded.worksheet.name}: {_verdict(unknown, clashes)}")
    blocks: list[Block] = [Note("", heading), _sections(loaded)]
    if clashes:
        blocks.append(Note("", "\nContradictions"))
        blocks += [Note(f"- {_clash(loaded, clash)}", style="error") for clash in clashes]
    if unknown:
        blocks.append(Note("", "\nUnknown answers, and what they cost in certainty"))
        blocks.append(Note("\n".join(f"- {plain_line(name)}" for name in unknown)))
    return blocks


def _verdict(unknown: Sequence[str], clashes: Sequence[Violation]) -> str:
    if clashes:
        return f"{numbered(len(clashes), 'contradiction')}: no system meets all requirements"
    if unknown:
        return f"valid; {numbered(len(unknown), 'question')} without an answer"
    return "valid; all questions that matter are answered"


def _clash(loaded: LoadedWorksheet, clash: Violation) -> str:
    error = loaded.error(clash.field, clash.message)
    where = ":".join(str(one) for one in (error.file, error.line, error.column) if one is not None)
    return f"{where}: {clash.field}: {clash.message} (wanted {clash.wanted}, got {clash.got})"


def _sections(loaded: LoadedWorksheet) -> Table:
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
    rows = [
        (
            section,
            str(len(entries[section])) if section in entries else "",
            *(str(counts[section]) for counts in (given, defaults, missing)),
        )
        for section in order
    ]
    columns = ("section", "entries", "given", "by default", "not given")
    return Table.of_rows("Answers", columns, rows, spare=("by default",))
