"""`headrace design check`."""

import msgspec

from headrace.cli.options import AsJson, CatalogueFile, Sets, WorksheetFile
from headrace.cli.screen import print_json, show_view
from headrace.design.document_file import Answer
from headrace.design.evaluation import Violation
from headrace.design.worksheet import Worksheet


class CheckDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON document of `headrace design check`."""

    worksheet: Worksheet
    """The requirements, in SI units."""
    answers: tuple[Answer, ...]
    """All fields with their origins."""
    unknown: tuple[str, ...]
    """Unknown answers that matter, with what they cost in certainty."""
    contradictions: tuple[Violation, ...]
    """Requirements that no system can meet together."""


def check(
    file: WorksheetFile,
    catalogue: CatalogueFile = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Check a worksheet: mistakes, contradictory requirements, unknown answers.

    The status is 1 if requirements contradict each other, and 2 if the file has a mistake.
    """
    from headrace.design.catalogue_file import load_catalogue
    from headrace.design.contradictions import contradictions
    from headrace.design.recommendation import unknown_answers
    from headrace.design.worksheet_file import load_worksheet

    loaded = load_worksheet(file, sets or [])
    loaded.check_profiles()
    found = CheckDocument(
        worksheet=loaded.worksheet,
        answers=loaded.answers,
        unknown=unknown_answers(loaded.worksheet),
        contradictions=contradictions(loaded.worksheet, load_catalogue(catalogue).catalogue),
    )
    if as_json:
        print_json(found, "design-check")
    else:
        from headrace.views.worksheet import view

        show_view(view(loaded, found.unknown, found.contradictions))
    return 1 if found.contradictions else 0
