"""Footnotes of a design's report: the formula, inputs and source of each number."""

from collections.abc import Iterable

from headrace.design.figure import Figure
from headrace.quantities import readable
from headrace.report.design_report.words import CHANCES, chance
from headrace.report.document.content import Footnote, Reference, Text, foreign
from headrace.report.figure_tables import arithmetic, value_text

LONGEST = 600
"""Characters of a text of a footnote."""


class Notes:
    """The footnotes of a report. A footnote is shown if a text refers to it."""

    def __init__(self, currency: str) -> None:
        self._currency = foreign(currency, 20)
        self._notes: dict[str, Footnote] = {}

    @property
    def footnotes(self) -> list[Footnote]:
        """All footnotes."""
        return list(self._notes.values())

    def add_figures(self, group: str, figures: Iterable[Figure], *, prefix: str = "") -> None:
        """Add a footnote for each figure.

        Args:
            group: Name of what the figures describe, such as "chosen".
            figures: The figures; keys that occur twice get the first figure's footnote.
            prefix: Text before the title of each footnote.
        """
        all_figures = list(figures)
        keys = {figure.title: _key(group, figure) for figure in reversed(all_figures)}
        for one in all_figures:
            key = _key(group, one)
            self._notes.setdefault(
                key, Footnote(key, prefix + foreign(one.title), _text(one, keys))
            )

    def add(self, key: str, title: str, text: str) -> Reference:
        """Add a footnote with a text, and return a reference to it."""
        self._notes.setdefault(key, Footnote(key, foreign(title), foreign(text, 1000)))
        return Reference(key)

    def value(
        self, group: str, figure: Figure, *, show_error: bool = True
    ) -> list[str | Reference]:
        """Return the value of a figure with its unit and a reference to its footnote."""
        if show_error and figure.standard_error is not None:
            text = value_text(figure, self._currency)
        elif figure.key in CHANCES:
            text = chance(figure.value)
        else:
            text = readable(figure.value, figure.unit, self._currency)
        return [text, self.reference(group, figure)]

    def reference(self, group: str, figure: Figure) -> Reference:
        """Return a reference to the footnote of a figure."""
        key = _key(group, figure)
        if key not in self._notes:
            raise ValueError(f"the figure {key} has no footnote")
        return Reference(key)


def _key(group: str, figure: Figure) -> str:
    return f"{group}/{figure.key}"


def _text(figure: Figure, keys: dict[str, str]) -> Text:
    """Return formula, inputs, source and limits of a figure.

    An input that comes from a figure of the same group refers to its footnote.
    """
    parts: list[str | Reference] = [foreign(figure.formula, LONGEST)]
    numbers = arithmetic(figure)
    if numbers and numbers != figure.formula:
        parts.append(f" = {foreign(numbers, LONGEST)}")
    parts.append(". ")
    for at, entry in enumerate(figure.inputs):
        start = "Inputs: " if at == 0 else "; "
        text = f"{start}{foreign(entry.name, 100)} {foreign(entry.text, 100)}"
        title = entry.source.removeprefix("figure: ")
        if title in keys and title != figure.title:
            parts += [text, Reference(keys[title])]
        elif entry.source:
            parts.append(f"{text} ({foreign(entry.source, LONGEST)})")
        else:
            parts.append(text)
    if figure.inputs:
        parts.append(". ")
    if figure.standard_error is not None:
        parts.append("\N{PLUS-MINUS SIGN} is the standard error. ")
    if figure.source:
        parts.append(f"Source: {_sentence(figure.source)} ")
    if figure.note:
        parts.append(f"Limit: {_sentence(figure.note, 1000)}")
    return parts


def _sentence(text: str, longest: int = LONGEST) -> str:
    line = foreign(text, longest)
    return line if line.endswith((".", "…", "!", "?")) else f"{line}."
