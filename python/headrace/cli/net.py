"""`headrace net`."""

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.options import ScenarioFile, Sets, ShowProgress
from headrace.cli.screen import progress
from headrace.cli.trust import TrustedFiles, trust
from headrace.files import atomic_file, check_apart, check_writable


def net(
    file: ScenarioFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Picture (.svg) or page for a browser (.html) to write.",
        ),
    ],
    sets: Sets = None,
    load: Annotated[
        bool, typer.Option("--load", help="Run the scenario, and shade stations by utilisation.")
    ] = False,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            min=0,
            metavar="N",
            help="Draw pages deeper than N as one symbol each: 0 shows the hosts. SVG only.",
        ),
    ] = None,
    playback: Annotated[
        Path | None,
        typer.Option(
            "--playback",
            metavar="FILE",
            help="Play a run in the page: a file of headrace run --playback.",
        ),
    ] = None,
    trusted: TrustedFiles = None,
    show_progress: ShowProgress = True,
) -> None:
    """Draw a scenario's net.

    The picture shows its pages, places, stations and transitions. A page for a browser can be
    zoomed, and plays the frames of a run.
    """
    from headrace import simulate
    from headrace.report.net_diagram import draw, load_of
    from headrace.report.net_player import net_element, net_page

    scenario = simulate.load_with_sets(file, sets or [])
    inputs = {"the scenario": file} | scenario.inputs
    check_apart({"--output": output}, inputs | ({"--playback": playback} if playback else {}))
    suffix = output.suffix.lower()
    if suffix not in ("", ".svg", ".html"):
        raise ValueError(
            f"--output {output}: the net diagram is SVG or HTML, not {output.suffix}: expected"
            " a name that ends in .svg or .html"
        )
    if playback is not None and (load or suffix != ".html"):
        other = "--load" if load else f"--output {output}"
        raise ValueError(
            f"--playback and {other}: expected a page that ends in .html, and no --load"
        )
    if depth is not None and suffix == ".html":
        raise ValueError(
            f"--depth and --output {output}: a page shows the whole net and can be zoomed:"
            " expected a name that ends in .svg"
        )
    check_writable(output)
    structure = scenario.structure()
    stations = None
    if load:
        trusting = trust(trusted)
        with progress(scenario.name, show_progress) as report:
            document = simulate.run(scenario, progress=report, trust=trusting).document
        stations = document["stations"]
    if suffix == ".html":
        frames = simulate.load_playback(playback) if playback is not None else None
        picture = net_page(
            scenario.name, net_element(structure, stations=stations, playback=frames)
        )
    else:
        figures = load_of(structure, stations) if stations is not None else {}
        picture = draw(structure, figures, depth)
    with atomic_file(output) as partial:
        partial.write_text(picture, encoding="utf-8")
