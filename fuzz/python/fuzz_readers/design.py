"""Worksheets and catalogues of designs: loaded, checked and searched for contradictions."""

from pathlib import Path

from headrace.design import load_catalogue, load_worksheet
from headrace.design.contradictions import contradictions
from headrace.design.recommendation import unknown_answers

CORPUS = "design_document"


def _worksheet(path: Path) -> None:
    loaded = load_worksheet(path)
    loaded.check_profiles()
    unknown_answers(loaded.worksheet)
    contradictions(loaded.worksheet, load_catalogue(None).catalogue)


READERS = (load_catalogue, _worksheet)
