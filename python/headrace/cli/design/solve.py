"""`headrace design solve`."""

import contextlib
import sys
from pathlib import Path
from typing import Annotated as A

import typer

from headrace.cli.options import AsJson, CatalogueFile, WorksheetFile
from headrace.cli.screen import print_document, show_view, steps
from headrace.commands.fields import Sets
from headrace.commands.parameters import Help, Word
from headrace.commands.values import time

NO_DESIGN = 1
"""Exit code if no design meets all requirements."""
REPORT = 5.0
"""Seconds of the time limit that are left for the report, at most a fifth of it (declared)."""
MOST_SEED = 2**63 - 1
"""Largest whole number of a scenario, which is TOML."""


def solve(
    file: WorksheetFile,
    catalogue: CatalogueFile = None,
    output: A[
        Path | None,
        Word(short="-o", metavar="DIR"),
        Help("Directory for solution, scenario and report. A search goes on where it ended."),
    ] = None,
    budget: A[
        str,
        Word("--time-limit", metavar="TIME"),
        Help('Time of the whole search, with its report: "2 min".'),
    ] = "2 min",
    seed: A[int, Help("Seed of the random numbers of simulations.")] = 1,
    everything: A[
        bool, Word("--all-values"), Help("Try values too that a rule speaks against.")
    ] = False,
    sets: Sets = (),
    report: A[bool, Word(off="--no-report"), Help("Write the report (HTML and PDF).")] = True,
    as_json: AsJson = False,
    show_progress: A[
        bool, Word("--progress", off="--no-progress"), Help("Show the progress.")
    ] = True,
) -> None:
    """Search a design that meets a worksheet.

    Enumerates what the catalogue allows and discards what misses a requirement. Simulates the rest
    with the applications of the worksheet, and chooses the cheapest that meets everything. Exits
    with 1 if none does, and shows the nearest misses.
    """
    from headrace.design.catalogue_file import load_catalogue
    from headrace.design.contradictions import contradictions
    from headrace.design.search import Search
    from headrace.design.search.saved_runs import FILE as SAVED_RUNS
    from headrace.design.solution_file import encode_solution, save_solution
    from headrace.design.worksheet_file import load_worksheet
    from headrace.files import check_directory, make_directory
    from headrace.plain_text import plain_line

    seconds = time("--time-limit", budget)
    if not 0 <= seed <= MOST_SEED:
        raise ValueError(f"--seed {seed}: expected a whole number from 0 to {MOST_SEED}")
    if output is not None:
        check_directory(output)
    loaded, bought = load_worksheet(file, sets), load_catalogue(catalogue)
    if output is not None:
        make_directory(output)
    with steps("design") if show_progress else contextlib.nullcontext() as on_progress:
        search = Search(
            loaded,
            bought,
            base=file.parent,
            directory=output,
            budget=seconds
            if output is None or not report
            else max(0.8 * seconds, seconds - REPORT),
            seed=seed,
            everything=everything,
            on_progress=on_progress,
        )
        try:
            solution = search.run()
        except KeyboardInterrupt:
            if output is not None and (output / SAVED_RUNS).exists():
                line = f"{output}: has the finished simulations; the same command goes on"
                print(plain_line(line), file=sys.stderr)
            raise
    written = [] if output is None else save_solution(solution, output)
    if output is not None and report:
        from headrace.report import design_report

        with steps("report") if show_progress else contextlib.nullcontext() as on_progress:
            files = design_report.write(
                solution, loaded.worksheet, bought.catalogue, output, on_progress
            )
        written += files.documents
        if len(files.documents) == 1:
            print(design_report.listed(files.documents), file=sys.stderr)
    if as_json:
        print_document(encode_solution(solution) + b"\n")
    else:
        from headrace.views.solution import view

        show_view(view(solution, bought.catalogue.currency))
        for path in written:
            print(plain_line(f"written: {path}"))
    if solution.chosen is None:
        if as_json:
            print("no design meets all requirements", file=sys.stderr)
        for it in contradictions(loaded.worksheet, bought.catalogue):
            line = plain_line(f"contradiction: {it.field}: {it.message}")
            print(line, file=sys.stderr if as_json else sys.stdout)
        raise typer.Exit(NO_DESIGN)
