"""`headrace design recommend`."""

from pathlib import Path
from typing import Annotated as A

import msgspec

from headrace.cli.options import AsJson, CatalogueFile, WorksheetFile
from headrace.cli.screen import FOLDED, print_json, show_view
from headrace.commands.fields import Sets
from headrace.commands.parameters import Help, Word
from headrace.design.evaluation import Choice, Violation


class RecommendationDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON document of `headrace design recommend`."""

    worksheet: str
    """Name of the worksheet."""
    catalogue: str
    """Name of the catalogue."""
    choices: tuple[Choice, ...]
    contradictions: tuple[Violation, ...]
    unknown: tuple[str, ...]
    """Unknown answers, with what they cost in certainty."""


def recommend(
    file: WorksheetFile,
    catalogue: CatalogueFile = None,
    rules: A[
        Path | None,
        Word(metavar="FILE"),
        Help("Rules in TOML that add to or change the shipped ones."),
    ] = None,
    sets: Sets = (),
    as_json: AsJson = False,
) -> None:
    """Recommend file system, distribution, arrays and more, with reasons.

    Each choice names the rules for it, what was rejected and why, and the unknown answers that
    could change it. Contradictory requirements come first.
    """
    from headrace.design.catalogue_file import load_catalogue
    from headrace.design.contradictions import contradictions
    from headrace.design.recommendation import load_rules, unknown_answers
    from headrace.design.recommendation import recommend as choose
    from headrace.design.worksheet_file import load_worksheet

    worksheet = load_worksheet(file, sets).worksheet
    bought = load_catalogue(catalogue).catalogue
    table = load_rules(rules)
    found = RecommendationDocument(
        worksheet=worksheet.name,
        catalogue=bought.name,
        choices=choose(worksheet, bought, table),
        contradictions=contradictions(worksheet, bought),
        unknown=unknown_answers(worksheet),
    )
    if as_json:
        print_json(found, "recommendation")
        return
    from headrace.views.recommendation import view

    shown = view(found.worksheet, found.choices, found.unknown, found.contradictions, table)
    show_view(shown, redirected_width=FOLDED)
