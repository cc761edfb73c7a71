"""Checks of documents: that a page is well formed and loads nothing, that a PDF has pages."""

import re
from html.parser import HTMLParser

HOSTILE = (
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "\"'><b onmouseover=alert(1)>",
    '#eval("1+1") #import "@preview/x:1.0.0" $x$ `raw` *b* _e_ \\',
    "$\\frac{1}{0}$ %s {0} {{",
    "\x1b[31mred\x07\x00\u202egnp.exe",
    "名前 \U0001f600 é",
    "a" * 5000,
    "/" + "dir/" * 900,
)
VOID = {"meta", "img", "br", "hr", "input", "link", "col"}


class Page(HTMLParser):
    """Elements of a page: that they are balanced, their attributes and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.identifiers: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.append((name, value or ""))
            if name == "id":
                self.identifiers.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def check_page(text: str) -> Page:
    """A page that is balanced, and that loads and runs nothing."""
    page = Page(text)
    assert not {"script", "iframe", "object", "embed", "link", "form", "base"} & set(page.tags)
    assert len(page.identifiers) == len(set(page.identifiers))
    for name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("href", "src", "xlink:href"):
            assert value.startswith(("#", "data:image/png;base64,"))
            assert not value.startswith("#") or value[1:] in page.identifiers
    assert not re.search(r"url\((?!#)|@import", text)
    # Names of XML are no addresses that are loaded.
    assert set(re.findall(r"https?://[^\s\"'<>)]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    return page


def check_pdf(contents: bytes) -> None:
    assert contents.startswith(b"%PDF-")
    assert contents.rstrip().endswith(b"%%EOF")
    assert re.search(rb"/Type\s*/Page\b", contents)
