"""Check prose against tools/prose.toml: sentence length, openings and banned words.

    python tools/prose_lint.py                      # README, CONTRIBUTING, CHANGELOG and docs/
    python tools/prose_lint.py PATH...              # Markdown, Python and Rust files, directories
    python tools/prose_lint.py --docstrings --help-texts --rust

In a Rust file, comments on lines of their own are read. A comment ends where its marker changes.
Licence lines and comments that are code, rustdoc's code blocks and drawings of boxes are skipped.
The exit status is 1 if anything was found.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs")

CODE_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\(<?[^)]*>?\)")
URL = re.compile(r"https?://\S+")
ITEM = re.compile(r"^\s*(?:[-*+:]|\d+\.)\s+")
SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\bet al)(?<!\bfig)(?<!\bsec)"
    r"[.!?][\"')*_]*(?=\s+[\"'(*_\[]*[A-Za-z0-9`]|\s*$)"
)
COMMENT = re.compile(r"\s*(//[/!]?)(?!/)(.*)")
NOT_PROSE = re.compile(
    r"SPDX-|Copyright|.*[\u2190-\u21ff\u2500-\u259f]{2}"
    r"|(?:fn|let|mod|pub|use|assert\w*!) .*[;{}(\[=]$|[})\]]+[;,]?$"
)
"""A line of a comment that is a drawing, of a licence, or code."""
DOCTEST = re.compile(r"^ *>>> .*(?:\n.*\S.*)*", re.MULTILINE)
WORD = re.compile(r"[A-Za-z0-9][\w'./,%:+-]*")


@dataclass(frozen=True)
class Block:
    """Consecutive lines of prose: a paragraph, a list item, a heading or a table row."""

    line: int
    text: str
    counted: bool = True


@dataclass(frozen=True)
class Finding:
    place: str
    line: int
    rule: str
    message: str


class Style:
    def __init__(self, path: Path) -> None:
        rules = tomllib.loads(path.read_text(encoding="utf-8"))
        self.limit: int = rules["limit"]
        self.exclude = [ROOT / entry for entry in rules["exclude"]]
        self.openings = re.compile(rf"^[\"'(*_\[]*({'|'.join(rules['openings'])})\b")
        self.words = [
            (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), advice)
            for pattern, advice in rules["words"].items()
        ]

    def findings(self, place: str, blocks: Iterable[Block]) -> Iterator[Finding]:
        for block in blocks:
            text = plain(block.text)
            for pattern, advice in self.words:
                for match in pattern.finditer(text):
                    line = block.line + text.count("\n", 0, match.start())
                    message = f'"{match.group().lower()}": write {advice}'
                    yield Finding(place, line, "word", message)
            if not block.counted:
                continue
            for start, sentence in sentences(text):
                line = block.line + text.count("\n", 0, start)
                # A list of omissions is read item by item.
                is_list = sentence.startswith("Not modelled: ")
                parts = re.split(r";\s", sentence) if is_list else [sentence]
                count = max(len(WORD.findall(part)) for part in parts)
                shown = " ".join(sentence.split())[:60]
                if count > self.limit:
                    yield Finding(place, line, "length", f"{count} words: {shown}…")
                opening = self.openings.match(sentence)
                if opening and not sentence.rstrip("\"')*_ ").endswith("?"):
                    message = f'opens with "{opening.group(1)}": {shown}…'
                    yield Finding(place, line, "opening", message)


def plain(text: str) -> str:
    """`text` without link targets; a code span is one word."""
    text = CODE_SPAN.sub(lambda match: "Code" + "\n" * match.group().count("\n"), text)
    text = IMAGE.sub(r"\1", text)
    text = LINK.sub(r"\1", text)
    return URL.sub("URL", text)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Each sentence of a block with the offset at which it begins."""
    start = 0
    for end in [*(match.end() for match in SENTENCE_END.finditer(text)), len(text)]:
        sentence = text[start:end]
        lead = len(sentence) - len(sentence.lstrip())
        if sentence.strip():
            yield start + lead, sentence.strip()
        start = end


def markdown_blocks(text: str) -> Iterator[Block]:
    lines: list[str] = []
    start = 0
    fence = ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = line.strip()
        opening = re.match(r"(`{3,}|~{3,})", bare)
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
            continue
        single = bare.startswith(("#", "|", "<", ":::", "!!!"))
        if lines and (not bare or opening or single or ITEM.match(line)):
            yield Block(start, "\n".join(lines))
            lines = []
        if opening:
            fence = opening.group(1)
        elif single:
            yield Block(number, bare, counted=False)
        elif bare:
            if not lines:
                start = number
            lines.append(ITEM.sub("", line).lstrip("> "))


def rust_blocks(source: str) -> Iterator[Block]:
    """The comments on lines of their own, as Markdown. `SAFETY:` heads a paragraph."""
    comment: list[str] = []
    marker = ""
    for number, line in enumerate([*source.splitlines(), ""], 1):
        match = COMMENT.match(line)
        if comment and (match is None or match.group(1) != marker):
            for block in markdown_blocks("\n".join(comment)):
                yield Block(number - len(comment) + block.line - 1, block.text, block.counted)
            comment = []
        if match is not None:
            marker, text = match.groups()
            text = text.removeprefix(" ").removeprefix("SAFETY: ")
            code = text.startswith("    ") and not (comment and comment[-1].strip())
            comment.append("" if code or NOT_PROSE.match(text) else text)


def docstring_blocks(source: str) -> Iterator[Block]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            first = node.body[0].lineno
            text = DOCTEST.sub(lambda match: "\n" * match.group().count("\n"), text)
            for block in markdown_blocks(re.sub(r"::\n(?:\n|    .*\n?)+", ":\n\n", text)):
                yield Block(first + block.line - 1, block.text, block.counted)


def help_blocks() -> Iterator[tuple[str, list[Block]]]:
    """The help texts of each command and of its options, by the command's name."""
    import typer.main

    from headrace.cli.app import app

    def walk(command: object, name: str) -> Iterator[tuple[str, list[Block]]]:
        texts = [getattr(command, "help", None), getattr(command, "epilog", None)]
        texts += [getattr(parameter, "help", None) for parameter in getattr(command, "params", [])]
        yield (
            name,
            [
                block
                for text in texts
                if text
                for block in markdown_blocks(text.replace("\b\n", ""))
            ],
        )
        for inner, subcommand in getattr(command, "commands", {}).items():
            yield from walk(subcommand, f"{name} {inner}")

    yield from walk(typer.main.get_command(app), "headrace")


READERS = {".md": markdown_blocks, ".py": docstring_blocks, ".rs": rust_blocks}


def files(paths: Iterable[Path], style: Style) -> Iterator[Path]:
    for path in paths:
        nested = (path.rglob(f"*{suffix}") for suffix in READERS)
        for file in sorted(chain(*nested)) if path.is_dir() else [path]:
            if not any(file.resolve().is_relative_to(excluded) for excluded in style.exclude):
                yield file


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, help="Markdown, Python, Rust files, folders")
    parser.add_argument("--docstrings", action="store_true", help="check python/headrace too")
    parser.add_argument("--help-texts", action="store_true", help="check the commands' help too")
    parser.add_argument("--rust", action="store_true", help="check the comments in crates too")
    parser.add_argument("--count", action="store_true", help="show counts by file only")
    options = parser.parse_args()

    style = Style(ROOT / "tools" / "prose.toml")
    paths = options.paths
    if not paths and not (options.docstrings or options.help_texts or options.rust):
        paths = [ROOT / name for name in DEFAULT]
    if options.docstrings:
        paths = [*paths, ROOT / "python" / "headrace"]
    if options.rust:
        paths = [*paths, ROOT / "crates"]

    findings: list[Finding] = []
    for file in files(paths, style):
        text = file.read_text(encoding="utf-8")
        blocks = READERS.get(file.suffix, markdown_blocks)(text)
        resolved = file.resolve()
        place = str(resolved.relative_to(ROOT) if resolved.is_relative_to(ROOT) else file)
        findings += sorted(style.findings(place, blocks), key=lambda finding: finding.line)
    if options.help_texts:
        for name, texts in help_blocks():
            findings += style.findings(f"{name} --help", texts)

    if options.count:
        counts = Counter((finding.place, finding.rule) for finding in findings)
        for place in sorted({finding.place for finding in findings}):
            columns = (f"{rule} {counts[place, rule]}" for rule in ("length", "opening", "word"))
            print(f"{place}: {', '.join(columns)}")
    else:
        for finding in findings:
            print(f"{finding.place}:{finding.line}: {finding.rule}: {finding.message}")
    rules = Counter(finding.rule for finding in findings)
    if findings:
        summary = ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items()))
        print(f"{len(findings)} findings ({summary})", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
