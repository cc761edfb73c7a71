"""Numbers of footnotes: the order of the first references to them."""

from collections.abc import Iterator

from headrace.report.document.content import (
    Block,
    Bullets,
    Facts,
    Footnote,
    Paragraph,
    Reference,
    Report,
    Table,
    Text,
)


def numbered(report: Report) -> list[Footnote]:
    """Return the footnotes that are referred to, in the order of their first references.

    References in texts come first, then those that stand in footnotes.

    Raises:
        ValueError: Two footnotes have one key, or a reference has no footnote.
    """
    known: dict[str, Footnote] = {}
    for note in report.footnotes:
        if note.key in known:
            raise ValueError(f"two footnotes have the key {note.key}")
        known[note.key] = note
    notes: dict[str, Footnote] = {}
    texts = (text for part in report.sections for block in part.blocks for text in _texts(block))
    for key in (reference.note for text in texts for reference in references(text)):
        notes.setdefault(key, _note(known, key))
    waiting = list(notes.values())
    while waiting:
        note = waiting.pop(0)
        for key in (reference.note for reference in references(note.text)):
            if key not in notes:
                notes[key] = _note(known, key)
                waiting.append(notes[key])
    return list(notes.values())


def references(text: Text) -> Iterator[Reference]:
    """Yield the references in a text."""
    if not isinstance(text, str):
        yield from (part for part in text if isinstance(part, Reference))


def _note(known: dict[str, Footnote], key: str) -> Footnote:
    if key not in known:
        raise ValueError(f"there is no footnote {key}")
    return known[key]


def _texts(block: Block) -> Iterator[Text]:
    match block:
        case Paragraph():
            yield block.text
        case Bullets():
            yield from block.items
        case Facts():
            yield from (text for _, text in block.rows)
        case Table():
            for row in block.rows:
                yield from row
        case _:
            return
