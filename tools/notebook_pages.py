"""Executed notebooks as pages of the site: Markdown with their code, tables and pictures."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple


class NotebookPage(NamedTuple):
    """A notebook as a page."""

    markdown: str
    pictures: dict[str, bytes]
    """PNG images by their names, beside the page."""


def notebook_page(path: Path) -> NotebookPage:
    """Return a notebook as a page.

    Args:
        path: An executed notebook (nbformat 4).

    Raises:
        ValueError: The notebook has no cells.
    """
    cells = json.loads(path.read_text(encoding="utf-8")).get("cells")
    if not cells:
        raise ValueError(f"{path}: expected a notebook with cells")
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            if len(parts) == 1:
                parts.append(f'<a href="{path.name}" download>Download this notebook</a>')
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            parts.append(_output(output, path.stem, pictures))
    return NotebookPage("\n\n".join(part for part in parts if part) + "\n", pictures)


def gallery(paths: Iterable[Path]) -> str:
    """Return the title, the question and the last picture of each notebook, in Markdown.

    Args:
        paths: Executed notebooks with a picture, whose first cell is a title and a paragraph.
    """
    parts = []
    for path in paths:
        page = notebook_page(path)
        title, paragraph = page.markdown.removeprefix("# ").split("\n\n")[:2]
        picture = f"![{title}]({[*page.pictures][-1]})" + '{ width="480" }'
        question = paragraph.partition(" It needs ")[0]
        parts += [f"## [{title}]({path.name})", question, f"[{picture}]({path.name})"]
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any], name: str, pictures: dict[str, bytes]) -> str:
    if output["output_type"] == "stream":
        return _text("".join(output["text"]))
    data = output.get("data", {})
    if "image/png" in data:
        file = f"{name}-{len(pictures) + 1}.png"
        pictures[file] = base64.b64decode("".join(data["image/png"]))
        return f"![output of the cell above]({file})"
    if "image/svg+xml" in data:
        file = f"{name}-{len(pictures) + 1}.svg"
        pictures[file] = "".join(data["image/svg+xml"]).encode()
        return f"![output of the cell above]({file})"
    if "text/html" in data:
        return f'<div class="notebook-output">{"".join(data["text/html"])}</div>'
    return _text("".join(data.get("text/plain", "")))


def _text(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""
