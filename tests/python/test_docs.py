"""The documentation: links and anchors lead somewhere, code blocks parse, the site builds."""

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from conftest import ROOT
from headrace.cli.app import app
from headrace.cli.binding import DefaultCommandGroup

DOCS = ROOT / "docs"
GENERATED = DOCS / "reference" / "scenario"
PAGES = sorted(
    path
    for path in [
        *DOCS.rglob("*.md"),
        *ROOT.glob("*.md"),
        *ROOT.glob("papers/*/README.md"),
        *ROOT.glob("benches/**/README.md"),
        *ROOT.glob("tests/data/**/README.md"),
    ]
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(<?([^)\s>]+)>?\)")
HEADING = re.compile(r"^#{1,6} +(.*)$", re.MULTILINE)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_of(path: Path) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text(encoding="utf-8")))


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs agree on them."""
    found = set()
    for heading in HEADING.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\s-]", "", words.lower()).strip()
        found |= {slug.replace(" ", "-"), re.sub(r"[-\s]+", "-", slug)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for link in LINK.findall(text_of(page)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if page.name == "rust.md" and file.startswith("rust/"):
            continue  # Written by cargo doc.
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target)
        ):
            wrong.append(link)
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_blocks_parse(page: Path) -> None:
    for language, code in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            ast.parse(code)
        elif language == "toml":
            tomllib.loads(code)
        elif language == "sh":
            parsed = subprocess.run(["bash", "-n"], input=code, capture_output=True, text=True)
            assert parsed.returncode == 0, f"{code}: {parsed.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_and_options_exist(page: Path) -> None:
    for language, code in FENCE.findall(page.read_text(encoding="utf-8")):
        if language != "sh":
            continue
        for line in code.replace("\\\n", " ").splitlines():
            try:
                words = shlex.split(line, comments=True)
            except ValueError:
                continue  # A part of text in quotes.
            while "headrace" in words:
                words = words[words.index("headrace") + 1 :]
                check_command(words, line)


def check_command(words: list[str], line: str) -> None:
    import typer.main

    command = typer.main.get_command(app)
    path = []
    known = {"-h", "--help"}
    for word in words:
        if word in ("|", ";", "&&", ">", "--"):
            break
        inner = getattr(command, "commands", {})
        if word in inner and not word.startswith("-"):
            command = inner[word]
            path.append(word)
        elif word.startswith("-") and not re.fullmatch(r"-[\d.]*", word):
            for parameter in command.params:
                known |= {*parameter.opts, *parameter.secondary_opts}
            # `headrace bench DIR` is `headrace bench quick DIR`.
            if isinstance(command, DefaultCommandGroup):
                of_default = inner[command.default].params
                known |= {o for p in of_default for o in (*p.opts, *p.secondary_opts)}
            if command.context_settings.get("ignore_unknown_options") or path == ["lab", "bench"]:
                break  # The rest is for another command.
            assert word.split("=")[0] in known, f"{word} in: {line}"


def pages_of_the_site() -> list[str]:
    """All pages and notebooks but the generated ones of the scenario reference."""
    pages = [path for path in PAGES if path.is_relative_to(DOCS)]
    by_hand = [path for path in pages if path.parent != GENERATED or path.name == "index.md"]
    notebooks = DOCS.glob("notebooks/*.ipynb")
    return sorted(str(path.relative_to(DOCS)) for path in [*by_hand, *notebooks])


def test_every_page_is_once_in_the_nav() -> None:
    # tools/docs_site.py adds the pages of the scenario reference, of commands and of papers.
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"(\S+\.md)$", nav, re.MULTILINE)
    expected = [re.sub(r"\.ipynb$", ".md", page) for page in pages_of_the_site()]
    assert sorted(listed) == sorted([*expected, "reference/cli.md"])


@pytest.fixture(scope="module")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material")
    directory = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(directory)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return directory


def test_the_site_builds_and_fetches_nothing(built_site: Path) -> None:
    for page in ("index.html", "reference/cli.html", "repository/papers/pfssim/index.html"):
        text = (built_site / page).read_text(encoding="utf-8")
        fetched = re.findall(r'<(?:script|img)[^>]*src="https?:[^"]+', text)
        fetched += re.findall(r'<link[^>]*stylesheet[^>]*href="https?:[^"]+', text)
        assert fetched == [], page


SEARCHES = {
    "--vary": "how-to/sweep",
    "cite": "faq",
    "uninstall": "how-to/install",
    "macOS": "faq",
    "set": "how-to/whatif",
    "dirty limit": "tutorials/simulate",
}
"""Words that readers type, and the page that must be among the first three."""
FIRST = """links => links.slice(0, 3).map(link => link.href.split("#")[0].split("?")[0])"""


def test_the_search_finds_pages(built_site: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"{built_site.as_uri()}/index.html")
    field = page.locator("[data-md-component=search-query]")
    links = page.locator(".md-search-result__item > a")
    for words, expected in SEARCHES.items():
        field.fill("")
        expect(links).to_have_count(0)
        field.press_sequentially(words)
        expect(links.first).to_be_visible()
        expect(page.locator(".md-search-result__meta")).to_have_text(re.compile("matching"))
        addresses = links.evaluate_all(FIRST)
        assert f"{built_site.as_uri()}/{expected}.html" in addresses, (words, addresses)
    page.close()


SOURCES = [*ROOT.glob("python/headrace/**/*.py"), *ROOT.glob("crates/*/src/**/*.rs")]
VARIABLE = "\N{HORIZONTAL ELLIPSIS}"


def messages(source: Path) -> Iterator[str]:
    """The texts of a program; the parts that vary are an ellipsis."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".rs":
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', text, re.DOTALL):
            literal = re.sub(r"\\\n\s*", "", literal).replace('\\"', '"')
            yield re.sub(r"\{[^{}]*\}", VARIABLE, literal)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            parts = (it.value if isinstance(it, ast.Constant) else VARIABLE for it in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_the_program_has_the_messages_of_the_troubleshooting() -> None:
    page = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    assert len(documented) >= 20
    text = "\n".join(message for source in SOURCES for message in messages(source))
    assert [message for message in documented if message.strip(f"{VARIABLE} ") not in text] == []


def test_rust_files_have_the_pages_that_rustdoc_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("material")
    import docs_site

    monkeypatch.setattr(docs_site, "RUSTDOC", tmp_path)
    for page in (
        "headrace_net/index.html",
        "headrace_storage/localfs/index.html",
        "src/headrace_storage/client/oplocks.rs.html",
    ):
        (tmp_path / page).parent.mkdir(parents=True)
        (tmp_path / page).touch()
    expected = {
        "crates/net/src/lib.rs": "reference/rust/headrace_net/index.html",
        "crates/storage/src/localfs/mod.rs": "reference/rust/headrace_storage/localfs/index.html",
        "crates/storage/src/client/oplocks.rs": (
            "reference/rust/src/headrace_storage/client/oplocks.rs.html"
        ),
        "crates/storage/src/device/simple.rs": None,
        "crates/storage/examples/own_scheduler.rs": None,
        "scenarios/nfs.toml": None,
    }
    pages = {name: docs_site.rustdoc_page(ROOT / name) for name in expected}
    assert pages == expected


@pytest.mark.parametrize("tool", ["trace_format_tables", "fio_option_tables", "index_page"])
def test_pages_have_the_tables_that_readers_give(tool: str) -> None:
    checked = subprocess.run(
        [sys.executable, ROOT / f"tools/{tool}.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
