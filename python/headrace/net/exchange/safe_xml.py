"""XML of strangers, read without entities, with the line of each element."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

MOST_BYTES = 64 * 2**20
MOST_ELEMENTS = 2_000_000
DEEPEST = 100


@dataclass(eq=False)
class Xml:
    """An element."""

    tag: str
    """Its name without a namespace."""
    attributes: dict[str, str]
    line: int
    namespace: str = ""
    children: "list[Xml]" = field(default_factory=list)
    text: str = ""
    """The text before its first child."""

    def all(self, tag: str) -> "list[Xml]":
        """Return the children of a name."""
        return [child for child in self.children if child.tag == tag]

    def find(self, *path: str) -> "Xml | None":
        """Return the first element on a path of names."""
        element: Xml | None = self
        for tag in path:
            if element is None:
                return None
            element = next((child for child in element.children if child.tag == tag), None)
        return element

    def text_at(self, *path: str) -> str:
        """Return the text of the first element on a path, without space around it."""
        child = self.find(*path)
        return "" if child is None else child.text.strip()

    def findall_ids(self) -> list[str]:
        """Return the new names of the values of a colour set."""
        ids = [child for with_ in self.all("with") for child in with_.all("id")]
        return [child.text.strip() for child in ids]

    def get(self, name: str) -> str:
        """Return an attribute, or nothing."""
        return self.attributes.get(name, "")

    def walk(self) -> "Iterator[Xml]":
        """Yield this element and all within it."""
        yield self
        for child in self.children:
            yield from child.walk()


class Source:
    """A file that is read: its name in errors."""

    def __init__(self, file: str) -> None:
        self.file = file

    def error(self, line: int, message: str) -> ValueError:
        """Return an error at a line."""
        return ValueError(f"{self.file}:{line}: {message}")


def parse_xml(data: bytes, source: Source) -> Xml:
    """Return the root of a document.

    Raises:
        ValueError: It is no XML, declares entities, or is too large.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"{source.file}: expected at most {MOST_BYTES} bytes")
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    roots: list[Xml] = []
    open_elements: list[Xml] = []
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        line = parser.CurrentLineNumber
        if count > MOST_ELEMENTS:
            raise source.error(line, f"expected at most {MOST_ELEMENTS} elements")
        if len(open_elements) >= DEEPEST:
            raise source.error(line, f"expected at most {DEEPEST} elements within each other")
        namespace, _, tag = name.rpartition(" ")
        element = Xml(tag, attributes, line, namespace)
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)

    def end(_name: str) -> None:
        open_elements.pop()

    def text(data: str) -> None:
        if open_elements and not open_elements[-1].children:
            open_elements[-1].text += data

    def entity(*_: Any) -> None:
        # A few nested entities can stand for gigabytes of text.
        raise source.error(parser.CurrentLineNumber, "declares entities, which are not read")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = expat.ErrorString(error.code)
        raise source.error(error.lineno, f"this is no XML: {message}") from None
    except (LookupError, UnicodeError) as error:
        raise ValueError(f"{source.file}: this is no XML: {error}") from None
    return roots[0]
