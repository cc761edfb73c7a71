"""Write the list of models into docs/reference/models.md, from the heads of their files.

python tools/model_heads.py           # after a change of a head
python tools/model_heads.py --check   # exit status 1 if the page differs

A file of the crates below is a model if a paragraph of its head (`//!`) begins with "Not
modelled:". The page shows the first paragraph of the head, and the omissions as a list. In the
head they are separated by semicolons.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from generated_tables import update

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/models.md"
TOOL = "tools/model_heads.py"
STORAGE = "crates/storage/src"
GROUPS = {
    "Workloads": ["crates/workload/src", f"{STORAGE}/app"],
    "Clients": [f"{STORAGE}/client"],
    "Layout": [f"{STORAGE}/layout"],
    "Locks": [f"{STORAGE}/locks"],
    "Messages": [f"{STORAGE}/messages", f"{STORAGE}/processors.rs"],
    "Networks": [f"{STORAGE}/network"],
    "Schedulers": [f"{STORAGE}/qos"],
    "Data servers": [f"{STORAGE}/server"],
    "Metadata servers": [f"{STORAGE}/metadata"],
    "Failures": [f"{STORAGE}/failure"],
    "Machines and their file systems": [f"{STORAGE}/localfs"],
    "Replacement policies": [f"{STORAGE}/replacement"],
    "I/O schedulers": [f"{STORAGE}/iosched"],
    "Devices": [f"{STORAGE}/device"],
    "Systems and results": [STORAGE],
}
"""Folders and files of each section. A file belongs to the first section that has it."""
OMISSIONS = "Not modelled:"
LINK = re.compile(r"(?<!\\)\[(`[^`]+`|[^\]]+)(?<!\\)\](?:\([^)]*\)|\[[^\]]*\])?")


class ModelHead(NamedTuple):
    """The head of a file, as far as the page shows it."""

    file: Path
    summary: str
    omissions: list[str]

    @property
    def name(self) -> str:
        """The file below its crate, such as `device/disk`."""
        parts = self.file.relative_to(ROOT / "crates").parts
        words = parts[2:] if parts[0] == "storage" else (parts[0], *parts[2:])
        return "/".join(words).removesuffix("/mod.rs").removesuffix("/lib.rs")


def paragraphs(file: Path) -> list[str]:
    """Return the paragraphs of a file's head, without code and links of rustdoc."""
    lines: list[str] = []
    is_code = False
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//!"):
            break
        text = line.removeprefix("//!").strip()
        is_fence = text.startswith("```")
        is_code ^= is_fence
        lines.append("" if is_code or is_fence else text)
    return [
        LINK.sub(r"\1", " ".join(text.split())) for text in re.split(r"\n{2,}", "\n".join(lines))
    ]


def model_head(file: Path) -> ModelHead | None:
    """Return the head of a model; None if the file is none.

    Raises:
        ValueError: The omissions are within a paragraph, or in several.
    """
    summary, *others = paragraphs(file)
    omissions = [text for text in others if text.startswith(OMISSIONS)]
    everything = " ".join([summary, *others])
    if everything.casefold().count(OMISSIONS.casefold()) != len(omissions) or len(omissions) > 1:
        raise ValueError(f'{file}: expected one paragraph that begins with "{OMISSIONS}"')
    if not omissions:
        return None
    text = omissions[0].removeprefix(OMISSIONS).strip().removesuffix(".")
    return ModelHead(file, summary, text.split("; "))


def model_heads() -> Iterator[tuple[str, list[ModelHead]]]:
    """Yield the models of each section."""
    listed: set[Path] = set()
    for title, places in GROUPS.items():
        files = [
            file
            for place in places
            for file in sorted((ROOT / place).rglob("*.rs") if (ROOT / place).is_dir() else [])
            or [ROOT / place]
            if file not in listed
        ]
        listed.update(files)
        yield title, [head for file in files if (head := model_head(file)) is not None]


def rows() -> Iterator[str]:
    """Yield the sections of the page."""
    for title, heads in model_heads():
        yield f"## {title}"
        yield ""
        for head in heads:
            link = Path("../..", head.file.relative_to(ROOT)).as_posix()
            yield f"**[`{head.name}`]({link}).** {head.summary}"
            yield ""
            if len(head.omissions) == 1:
                yield f"{OMISSIONS} {head.omissions[0]}."
            else:
                yield OMISSIONS
                yield ""
                yield from (f"- {text}" for text in head.omissions)
            yield ""


if __name__ == "__main__":
    sys.exit(update({PAGE: {"models": rows()}}, TOOL))
