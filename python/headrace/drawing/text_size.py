"""Width of a text in a sans-serif font, estimated without a font."""

from unicodedata import category, combining, east_asian_width

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
NARROW = frozenset("iljtfrI.,:;'|!()[]/ ")
BROAD = frozenset("mwMW%@")


def text_width(text: str, size: float, bold: bool = False) -> float:
    """An upper estimate in pixels; DejaVu Sans, one of the widest, is the measure."""
    return size * sum(map(_advance, text)) * (1.1 if bold else 1.0)


def _advance(letter: str) -> float:
    if letter in NARROW:
        return 0.4
    if letter in BROAD:
        return 0.98
    if letter.isascii():
        return 0.72 if letter.isupper() else 0.62
    if combining(letter):
        return 0.0
    return 1.05 if east_asian_width(letter) in "WFA" or category(letter) == "So" else 0.8


def shorten(text: str, size: float, longest: float) -> str:
    """The text, cut with an ellipsis if it is wider than `longest` pixels."""
    text = printable(text)
    if text_width(text, size) <= longest:
        return text
    shortened = ""
    for letter in text:
        if text_width(shortened + letter + ELLIPSIS, size) > longest:
            break
        shortened += letter
    return shortened.rstrip() + ELLIPSIS


def printable(text: str) -> str:
    """The text in one line, with what XML cannot hold replaced."""
    return "".join(" " if c in "\t\n\r" else c if _allowed(c) else "\ufffd" for c in text)


def _allowed(letter: str) -> bool:
    # The characters of XML 1.0 (section 2.2), without the control characters U+007F to U+009F.
    code = ord(letter)
    return 0x20 <= code < 0x7F or 0xA0 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF
