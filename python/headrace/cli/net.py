"""`headrace net`."""

from typing import Annotated

import typer

from headrace.cli.options import ScenarioFile, Sets, ShowProgress, SvgFile
from headrace.cli.screen import progress
from headrace.cli.trust import TrustedFiles, trust
from headrace.files import atomic_file, check_apart, check_writable


def net(
    file: ScenarioFile,
    output: SvgFile,
    sets: Sets = None,
    load: Annotated[
        bool, typer.Option("--load", help="Run the scenario, and shade stations by utilisation.")
    ] = False,
    trusted: TrustedFiles = None,
    show_progress: ShowProgress = True,
) -> None:
    """Draw a scenario's net.

    The picture shows its pages, places, stations and transitions.
    """
    from headrace import simulate
    from headrace.report.net_diagram import draw, load_of

    scenario = simulate.load_with_sets(file, sets or [])
    check_apart({"--output": output}, {"the scenario": file} | scenario.inputs)
    if output.suffix.lower() not in ("", ".svg"):
        raise ValueError(
            f"--output {output}: the net diagram is SVG, not {output.suffix}: expected"
            " a name that ends in .svg"
        )
    check_writable(output)
    structure = scenario.structure()
    loads = {}
    if load:
        trusting = trust(trusted)
        with progress(scenario.name, show_progress) as report:
            document = simulate.run(scenario, progress=report, trust=trusting).document
        loads = load_of(structure, document["stations"])
    picture = draw(structure, loads)
    with atomic_file(output) as partial:
        partial.write_text(picture, encoding="utf-8")
