"""`headrace net run`."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.net.foreign import load_net
from headrace.cli.options import ResultAsJson, ResultFile, ShowProgress
from headrace.cli.screen import progress, show
from headrace.files import check_apart, check_writable, save_json

if TYPE_CHECKING:
    from headrace.net import NetModel

NetFile = Annotated[Path, typer.Argument(metavar="FILE", help="Net: .toml, .json, .cpn or .pnml.")]


@contextlib.contextmanager
def net_progress(
    model: "NetModel", until: float | None, shown: bool
) -> Iterator[Callable[[float], None] | None]:
    """Yield a callback for the simulated time of a run."""
    end = until or model.run_end
    with progress(model.name, shown) as report:
        if report is None:
            yield None
            return

        def tell(now: float) -> None:
            report(now, 0, None if end is None else min(now / end, 1.0))

        yield tell


def run(
    file: NetFile,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="TIME",
            help="Simulated time of the end, such as '10 s'; by default that of the file, or when"
            " nothing can happen any more.",
        ),
    ] = None,
    warmup: Annotated[
        str | None,
        typer.Option(
            "--warmup", metavar="TIME", help="Time at the start whose statistics are dropped."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Seed of all random numbers.")
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option("--replications", min=1, help="Runs with seeds of their own, for intervals."),
    ] = None,
    output: ResultFile = None,
    as_json: ResultAsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Run a net of your own, and show its figures."""
    from headrace._core import parse_seconds
    from headrace.report.net_tables import net_tables

    def seconds(option: str, text: str | None) -> float | None:
        try:
            return None if text is None else parse_seconds(text)
        except ValueError as error:
            raise ValueError(f"{option} {text}: {error}") from None

    end = seconds("--until", until)
    check_apart({"--output": output}, {"the net": file})
    if output is not None:
        check_writable(output)
    model = load_net(file)
    with net_progress(model, end, show_progress) as report:
        result = model.run(
            end,
            warmup=seconds("--warmup", warmup),
            seed=seed,
            replications=replications,
            progress=report,
        )
    if output is not None:
        save_json(output, result.document)
    if as_json:
        print(json.dumps(result.document))
        return
    for table in net_tables(result):
        show(table)
