"""Write the list of all pages into docs/index.md, by verb, from the nav of mkdocs.yml.

python tools/index_page.py           # after a change of the nav
python tools/index_page.py --check   # exit status 1 if the page differs
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generated_tables import update
from mkdocs.utils.yaml import yaml_load

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
INDENT = "    "


def pages(nav: list[Any], indent: str = "") -> Iterator[str]:
    """Yield an item for each page of a part of the nav that docs/ has."""
    for entry in nav:
        title, target = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
        if isinstance(target, list):
            yield f"{indent}- {title}"
            yield from pages(target, indent + INDENT)
            continue
        notebook = target.removesuffix(".md") + ".ipynb"
        path = DOCS / (notebook if (DOCS / notebook).exists() else target)
        if path.exists():
            title = title or path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            yield f"{indent}- [{title}]({path.relative_to(DOCS)})"


def sections() -> Iterator[str]:
    """Yield each section of the nav under a heading."""
    with (ROOT / "mkdocs.yml").open(encoding="utf-8") as file:
        nav = yaml_load(file)["nav"]
    for entry in nav:
        title, target = next(iter(entry.items()))
        if isinstance(target, list):
            yield from (f"## {title}", "", *pages(target), "")


if __name__ == "__main__":
    sys.exit(update({DOCS / "index.md": {"pages": sections()}}, "tools/index_page.py"))
