"""Documents for readers: content in blocks, written as HTML and PDF."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from headrace.files import atomic_file
from headrace.report.document import html, pdf
from headrace.report.document.content import Report


def write_documents(report: Report, directory: Path) -> list[Path]:
    """Write `report.html`, and with the extra `pdf` `report.pdf`, and return the files."""
    documents = {"report.html": html.render(report).encode()}
    if find_spec("typst") is not None:
        documents["report.pdf"] = pdf.render(report)
    for name, contents in documents.items():
        with atomic_file(directory / name) as partial:
            partial.write_bytes(contents)
    return [directory / name for name in documents]


def listed(files: Iterable[Path]) -> str:
    """Return a line with the documents among the files of a report."""
    documents = [str(file) for file in files if file.suffix in (".html", ".pdf")]
    missing = "" if len(documents) > 1 else "; a PDF needs Typst: pip install 'headrace[pdf]'"
    return f"report: {', '.join(documents)}{missing}"
