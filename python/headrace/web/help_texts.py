"""The documentation: its pages, search in them, and the examples that they name."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

import msgspec

from headrace.simulate.examples import examples

PACKAGED = Path(__file__).parent / "docs"
"""Where a wheel has the documentation."""
IN_REPOSITORY = Path(__file__).parents[3] / "docs"
SECTIONS = {
    "tutorials": "Tutorials",
    "how-to": "How to",
    "explanation": "Explanation",
    "reference": "Reference",
    "validation": "Validation",
}
LINK = re.compile(r"\]\((?!https?:|mailto:|/)([^)\s#]*)(#[^)\s]*)?\)")
SCENARIO = re.compile(r"scenarios/([a-z0-9-]+)\.toml")
AUTODOC = re.compile(r"^::: (\S+)(?:\n    .*)*", re.MULTILINE)
HEADING_WEIGHT = 5
TITLE_WEIGHT = 20


class HelpPage(msgspec.Struct, frozen=True):
    """A page of the documentation."""

    path: str
    """Path without suffix, such as `how-to/store`."""
    title: str
    section: str
    text: str
    """Markdown, without its title."""

    @property
    def examples(self) -> list[str]:
        """Names of the packaged scenarios that the page mentions."""
        packaged = {example.name for example in examples()}
        return [path for path in dict.fromkeys(SCENARIO.findall(self.text)) if path in packaged]


class Hit(msgspec.Struct, frozen=True):
    """A page that has the words of a search."""

    page: HelpPage
    line: str
    """The first line with one of the words."""
    score: int


def directory() -> Path | None:
    """Return the directory of the documentation; None if the installation has none."""
    for pattern in (PACKAGED, IN_REPOSITORY):
        if (pattern / "index.md").is_file():
            return pattern
    return None


@cache
def pages() -> dict[str, HelpPage]:
    """Return all pages by path."""
    root = directory()
    return {} if root is None else {page.path: page for page in _read(root)}


def _read(root: Path) -> Iterator[HelpPage]:
    for file in sorted(root.rglob("*.md")):
        path = file.relative_to(root).with_suffix("").as_posix()
        text = file.read_text(encoding="utf-8")
        title, _, rest = text.partition("\n")
        section = SECTIONS.get(path.partition("/")[0], "General")
        yield HelpPage(
            path, title.removeprefix("# ").strip().replace("`", ""), section, rest.strip()
        )


def search(words: str, most: int = 20) -> list[Hit]:
    """Return the pages that have all words, those with a word in their title first."""
    terms = [word for word in words.casefold().split() if word]
    if not terms:
        return []
    hits = [hit for page in pages().values() if (hit := _hit(page, terms)) is not None]
    return sorted(hits, key=lambda one: (-one.score, one.page.path))[:most]


def _hit(page: HelpPage, words: Sequence[str]) -> Hit | None:
    title, text = page.title.casefold(), page.text.casefold()
    score = 0
    for word in words:
        of_it = TITLE_WEIGHT * title.count(word) + text.count(word)
        if not of_it:
            return None
        score += of_it
    lines = [row for row in page.text.splitlines() if any(word in row.casefold() for word in words)]
    score += HEADING_WEIGHT * sum(line.startswith("#") for line in lines)
    return Hit(page, lines[0].lstrip("#|- ") if lines else page.title, score)


def markdown(page: HelpPage) -> str:
    """Return a page's text with links that lead to pages of this site."""
    here = PurePosixPath(page.path).parent
    # Only the built site has the reference of the Python interface.
    text = AUTODOC.sub(r"`\1`: see `help(\1)` in Python.", page.text)
    return LINK.sub(lambda match: f"]({_target(here, match[1], match[2] or '')})", text)


def _target(here: PurePosixPath, target: str, anchor: str) -> str:
    if not target:
        return anchor
    parts: list[str] = []
    for part in (here / target).parts:
        if part == "..":
            if not parts:
                return target + anchor
            parts.pop()
        elif part != ".":
            parts.append(part)
    path = "/".join(parts)
    if path.endswith(".md"):
        return f"/help/{path.removesuffix('.md')}{anchor}"
    if path.startswith("reference/rust/"):
        # Only the built site has it.
        return "/help/reference/rust"
    return f"/help-files/{path}"
