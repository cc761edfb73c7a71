"""`headrace design init`, `check`, `schema`, `catalogue` and `flow`: worksheets and catalogues."""

import errno
import json
from pathlib import Path
from typing import Annotated as A

import msgspec

from headrace import _core
from headrace.cli.options import AsJson, CatalogueFile, SvgFile, WorksheetFile
from headrace.cli.screen import print_document, print_json, show_view
from headrace.commands.fields import Sets
from headrace.commands.parameters import Help, Word
from headrace.design.document_file import Answer, Kind
from headrace.design.evaluation import Violation
from headrace.design.worksheet import Worksheet
from headrace.files import atomic_file, check_apart, check_writable
from headrace.plain_text import plain_line


def init(
    file: A[
        Path | None,
        Word(metavar="FILE", is_argument=True),
        Help("File to write; by default worksheet.toml or catalogue.toml."),
    ] = None,
    example: A[
        str | None, Word(metavar="NAME"), Help("Write an example instead: lab, video or hpc.")
    ] = None,
    catalogue: A[bool, Word("--for-catalogue"), Help("Write the form of a catalogue.")] = False,
    force: A[bool, Help("Overwrite FILE if it exists.")] = False,
) -> None:
    """Write a worksheet to fill in: each question with its unit, default and example.

    The form is a valid worksheet. Leave unknown answers out; headrace design check lists them.
    """
    from headrace.design import forms

    if example is not None and catalogue:
        raise ValueError("--example: the examples are worksheets: expected no --for-catalogue")
    kind: Kind = "catalogue" if catalogue else "worksheet"
    text = forms.form(kind) if example is None else forms.example(example)
    path = Path(f"{kind}.toml") if file is None else file
    if path.is_file() and not force:
        raise FileExistsError(
            errno.EEXIST, "exists: choose another name, or overwrite it with --force", str(path)
        )
    check_writable(path)
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
    if path.is_file():
        action = "design catalogue" if catalogue else "design check"
        print(plain_line(f"{path}: written. Fill it in, then: headrace {action} {path}"))


class CheckDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON document of `headrace design check`."""

    worksheet: Worksheet
    """The requirements, in SI units."""
    answers: tuple[Answer, ...]
    """All fields with their origins."""
    unknown: tuple[str, ...]
    """Unknown answers that matter, with what they cost in certainty."""
    contradictions: tuple[Violation, ...]
    """Requirements that no system can meet together."""


def check(
    file: WorksheetFile, catalogue: CatalogueFile = None, sets: Sets = (), as_json: AsJson = False
) -> int:
    """Check a worksheet: mistakes, contradictory requirements, unknown answers.

    The status is 1 if requirements contradict each other, and 2 if the file has a mistake.
    """
    from headrace.design.catalogue_file import load_catalogue
    from headrace.design.contradictions import contradictions
    from headrace.design.recommendation import unknown_answers
    from headrace.design.worksheet_file import load_worksheet

    loaded = load_worksheet(file, sets)
    loaded.check_profiles()
    found = CheckDocument(
        worksheet=loaded.worksheet,
        answers=loaded.answers,
        unknown=unknown_answers(loaded.worksheet),
        contradictions=contradictions(loaded.worksheet, load_catalogue(catalogue).catalogue),
    )
    if as_json:
        print_json(found, "design-check")
    else:
        from headrace.views.worksheet import view

        show_view(view(loaded, found.unknown, found.contradictions))
    return 1 if found.contradictions else 0


def schema(
    catalogue: A[bool, Word("--for-catalogue"), Help("Print the schema of catalogues.")] = False,
) -> None:
    """Print the JSON Schema of worksheets or catalogues, for editors."""
    kind = "catalogue" if catalogue else "worksheet"
    print(json.dumps(json.loads(_core.document_schema(kind)), indent=2))


def catalogue(
    file: A[
        str | None,
        Word(metavar="FILE", is_argument=True),
        Help("Catalogue in TOML, or the name of a shipped one; by default example-2026."),
    ] = None,
    text: A[bool, Word("--toml"), Help("Print it as TOML, to be saved and changed.")] = False,
    prices: A[bool, Word("--price-list"), Help("Print a CSV list of prices to fill in.")] = False,
    quote: A[
        Path | None,
        Word(metavar="FILE"),
        Help("Take the prices of a price list that is filled in."),
    ] = None,
    sets: Sets = (),
    as_json: AsJson = False,
) -> None:
    """Check a catalogue and list what can be bought: disks, nodes, shelves, networks.

    Example: --price-list > quote.csv, then --quote quote.csv --toml > mine.toml.
    """
    from headrace.design import catalogue_file
    from headrace.design.catalogue_file import catalogue_source, load_catalogue, shipped_catalogues

    if text + as_json + prices > 1:
        raise ValueError("--toml, --json, --price-list: expected one of them")
    loaded = load_catalogue(file, sets)
    if quote is not None:
        sets = (*sets, *catalogue_file.quoted_values(loaded.catalogue, quote))
        loaded = load_catalogue(file, sets)
    if prices:
        print_document(catalogue_file.price_list(loaded.catalogue).encode())
    elif as_json:
        print_json(loaded.catalogue)
    elif text:
        source = None if sets else catalogue_source(file)
        print_document((loaded.text if source is None else source).encode())
    else:
        from headrace.views.catalogue import view

        show_view(view(loaded.catalogue, shipped_catalogues()))


def flow(file: WorksheetFile, output: SvgFile, sets: Sets = ()) -> None:
    """Draw how data flows between zones, clients and the outside.

    Without flows, the picture shows the accesses of the applications.
    """
    from headrace.design.worksheet_file import load_worksheet
    from headrace.report.data_flow import data_flow_svg

    check_apart({"--output": output}, {"the worksheet": file})
    if output.suffix.lower() not in ("", ".svg"):
        raise ValueError(
            f"--output {output}: the data-flow diagram is SVG, not {output.suffix}: expected"
            " a name that ends in .svg"
        )
    check_writable(output)
    picture = data_flow_svg(load_worksheet(file, sets).worksheet)
    with atomic_file(output) as partial:
        partial.write_text(picture, encoding="utf-8")
