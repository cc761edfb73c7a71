"""MkDocs hooks: the pages that come from elsewhere than docs/.

- The nav of the scenario reference, whose pages are generated (crates/spec).
- The command reference, from the commands' own help.
- The notebooks, with their outputs, and their gallery.
- Files of the repository that pages link to: Markdown as pages, Rust as pages of rustdoc if it ran,
  all others as they are.
"""

import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# MkDocs loads a hook by its path.
sys.path.insert(0, str(Path(__file__).parent))
from notebook_pages import gallery, notebook_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RUSTDOC = ROOT / "target" / "doc"
"""What `cargo doc` wrote, if it ran."""
FOLDER = "repository"
"""Where files from outside docs/ are on the site."""
BOOST = {
    "how-to": 3.0,
    "faq.md": 3.0,
    "troubleshooting.md": 3.0,
    "explanation": 2.0,
    "tutorials": 1.5,
    "validation": 0.3,
    "reference/python": 0.1,
    "repository": 0.1,
}
"""Weights of pages in the search by the start of their address; 1 for all others."""
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
CODE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Completes the nav."""
    scenario = [
        f"reference/scenario/{path.name}"
        for path in sorted((DOCS / "reference" / "scenario").glob("*.md"))
        if path.name != "index.md"
    ]
    pages = [{_title(DOCS / path): path} for path in scenario]
    files = _section(_section(config.nav or [], "Reference"), "Files")
    _section(files, "Scenario file").extend(pages)
    papers = [{it.parent.name: _uri(it)} for it in _pages() if it.parent.parent.name == "papers"]
    validate = _section(config.nav or [], "Validate")
    _section(validate, "Records").append({"Published results": papers})
    own = [{_title(it): _uri(it)} for it in _pages() if it.parent.parent.name != "papers"]
    config.nav = [*(config.nav or []), {"Project": own}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages and those of the repository."""
    files.append(File.generated(config, "reference/cli.md", content=command_reference()))
    for path in _pages():
        files.append(File.generated(config, _uri(path), abs_src_path=str(path)))
    for path in sorted((DOCS / "notebooks").glob("*.ipynb")):
        page = notebook_page(path)
        uri = f"notebooks/{path.stem}.md"
        files.append(File.generated(config, uri, content=page.markdown))
        for name, picture in page.pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=picture))
    for path in sorted(RUSTDOC.rglob("*")):
        if path.is_file():
            to = f"reference/rust/{path.relative_to(RUSTDOC).as_posix()}"
            # Licences of fonts, which are no pages.
            to += ".txt" if path.suffix == ".md" else ""
            files.append(File.generated(config, to, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links to files of the repository into links to their copies on the site."""
    uri = page.file.src_uri
    boost = next((BOOST[start] for start in BOOST if uri.startswith(start)), 1.0)
    page.meta.setdefault("search", {"boost": boost})
    if uri == "notebooks/index.md":
        markdown += "\n" + gallery(sorted((DOCS / "notebooks").glob("*.ipynb")))
    if uri == "reference/rust.md" and not RUSTDOC.exists():
        return LINK.sub(lambda match: match.group(0).partition("](")[0] + "]", markdown)
    source = ROOT / uri.removeprefix(f"{FOLDER}/") if uri.startswith(FOLDER) else DOCS / uri

    def link(match: re.Match[str]) -> str:
        before, target, anchor, after = match.groups()
        if re.match(r"[a-z]+:", target):
            return match.group(0)
        path = Path(os.path.normpath(source.parent / target))
        if not path.is_relative_to(ROOT) or not path.exists():
            return match.group(0)
        if path.is_relative_to(DOCS):
            to = path.relative_to(DOCS).as_posix()
            if path.suffix == ".ipynb":
                to = to.removesuffix(".ipynb") + ".md"
        elif path == ROOT / "papers":
            to = "validation/index.md"
        elif path.is_dir() and (path / "README.md").exists():
            to = _uri(path / "README.md")
        elif path.is_dir():
            # A folder has no page: name it.
            return match.group(0)
        elif rustdoc := rustdoc_page(path):
            to = rustdoc
        else:
            to = _uri(path)
            if files.get_file_from_path(to) is None:
                files.append(File.generated(config, to, abs_src_path=str(path)))
        return f"{before}{os.path.relpath(to, os.path.dirname(uri))}{anchor or ''}{after}"

    parts = CODE.split(markdown)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def rustdoc_page(source: Path) -> str | None:
    """Return the page of a Rust file on the site, or of its source if its module is private.

    Args:
        source: The file, such as crates/net/src/lib.rs.

    Returns:
        None if rustdoc wrote neither.
    """
    parts = source.relative_to(ROOT).parts
    if source.suffix != ".rs" or parts[0] != "crates" or parts[2:3] != ("src",):
        return None
    crate, modules = f"headrace_{parts[1]}", Path(*parts[3:])
    module = modules.parent if modules.stem in ("lib", "mod") else modules.with_suffix("")
    pages = Path(crate, module, "index.html"), Path("src", crate, f"{modules}.html")
    return next(
        (f"reference/rust/{page.as_posix()}" for page in pages if (RUSTDOC / page).exists()), None
    )


def command_reference() -> str:
    """The page of all commands, in Markdown."""
    import typer.main

    from headrace.cli.app import app

    lines = ["# Commands", ""]
    _command(typer.main.get_command(app), "headrace", None, lines)
    return "\n".join(lines) + "\n"


def _command(command: Any, path: str, parent: Any, lines: list[str]) -> None:
    context = command.context_class(command, info_name=path.split()[-1], parent=parent)
    if parent is not None:
        lines += [f"## {path}", ""]
    lines += [_paragraphs(command.help or ""), ""]
    usage = " ".join(command.collect_usage_pieces(context))
    # Typer writes required arguments as {NAME}.
    usage = re.sub(r"\{(\w+)\}", r"\1", usage)
    lines += ["```text", f"{path} {usage}", "```", ""]
    every = [_row(parameter, context) for parameter in command.get_params(context)]
    rows = [row for row in every if row is not None and not row.startswith("| `--help`")]
    if rows:
        lines += ["| argument or option | meaning |", "| --- | --- |", *rows, ""]
    inner = getattr(command, "commands", {})
    for name, below in inner.items():
        if not below.hidden:
            _command(below, f"{path} {name}", context, lines)


def _row(parameter: Any, context: Any) -> str | None:
    record = parameter.get_help_record(context)
    if record is None:
        return None
    names, text = record
    text = " ".join((text or "").split())
    # Brackets are defaults and ranges, not links.
    cells = f"`{names}`", re.sub(r"([\[<*_])", r"\\\1", text)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _paragraphs(text: str) -> str:
    paragraphs = text.replace("\f", "").strip().split("\n\n")
    return "\n\n".join(" ".join(it.split()) for it in paragraphs)


def _pages() -> list[Path]:
    papers = sorted((ROOT / "papers").glob("*/README.md"))
    return [*papers, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def _uri(path: Path) -> str:
    return f"{FOLDER}/{path.relative_to(ROOT).as_posix()}"


def _title(path: Path) -> str:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    return first.lstrip("# ").replace("`", "")


def _section(nav: list[Any], title: str) -> list[Any]:
    return next(entry[title] for entry in nav if isinstance(entry, dict) and title in entry)
