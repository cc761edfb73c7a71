"""`headrace net run`."""

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

from headrace.cli.net.foreign import NetFile, load_net
from headrace.cli.options import AsJson, PlotDirectory, ResultFile, ShowProgress
from headrace.cli.screen import progress, show_view
from headrace.commands.fields import Replications, Seed
from headrace.commands.parameters import Help, Word
from headrace.commands.values import span
from headrace.files import atomic_file, check_apart, check_directory, check_writable, save_json

if TYPE_CHECKING:
    import polars as pl

    from headrace.net import NetModel

FRAMES = 200
"""Fewest frames of a playback of a long run."""


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
    until: A[
        float | None,
        span(0.0),
        Help(
            "Simulated time of the end, such as '10 s'; by default that of the file, or when"
            " nothing can happen any more."
        ),
    ] = None,
    warmup: A[
        float | None,
        span(0.0),
        Word("--warm-up"),
        Help("Time at the start whose statistics are dropped."),
    ] = None,
    seed: Seed = None,
    replications: Replications = None,
    rows: A[
        tuple[str, ...],
        Word(metavar="MONITOR=FILE"),
        Help("Save the rows of a collector as .csv or .parquet; can be repeated."),
    ] = (),
    plot: PlotDirectory = None,
    playback: A[
        Path | None,
        Help("Save frames of the first run as Parquet, for headrace net FILE --playback."),
    ] = None,
    output: ResultFile = None,
    as_json: AsJson = False,
    show_progress: ShowProgress = True,
) -> None:
    """Run a net of your own, and show its figures and monitors."""
    from headrace.views.net import view

    model = load_net(file)
    saved = _row_files(rows, model)
    targets = {f"--rows {name}={path}": path for name, path in saved}
    check_apart({"--output": output, "--playback": playback} | targets, {"the net": file})
    for path in (output, playback, *(path for _, path in saved)):
        check_writable(path)
    check_directory(plot)
    with net_progress(model, until, show_progress) as report:
        result = model.run(
            until,
            warmup=warmup,
            seed=seed,
            replications=replications,
            progress=report,
            playback=None if playback is None else FRAMES,
        )
    if output is not None:
        save_json(output, result.document)
    if playback is not None and result.playback is not None:
        result.playback.save(playback)
    for name, path in saved:
        _save_rows(result.collected(name), path)
    if plot is not None:
        from headrace.render import pictures

        pictures.save_figures(plot, {"monitors": result.plot()})
    if as_json:
        print(json.dumps(result.document))
        return
    show_view(view(result))


def _row_files(options: Sequence[str], model: "NetModel") -> list[tuple[str, Path]]:
    """Return the collectors that are to be saved, each with a file."""
    files: list[tuple[str, Path]] = []
    for option in options:
        name, equals, file = option.rpartition("=")
        path = Path(file)
        if not equals or not name or path.suffix.lower() not in (".csv", ".parquet"):
            raise ValueError(
                f"--rows {option}: expected a monitor, = and a name that ends in .csv or .parquet"
            )
        if name not in model.collectors:
            known = ", ".join(model.collectors) or "none"
            raise ValueError(f"--rows {option}: expected a collector of the net, of these: {known}")
        files.append((name, path))
    return files


def _save_rows(frame: "pl.DataFrame", path: Path) -> None:
    from headrace.parquet import as_parquet

    content = as_parquet(frame) if path.suffix.lower() == ".parquet" else frame.write_csv().encode()
    with atomic_file(path) as partial:
        partial.write_bytes(content)
