"""`headrace net draw`, which is `headrace net` without a command."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated as A
from typing import Any

import typer

from headrace.cli.options import ShowProgress, TrustedFiles, trust
from headrace.cli.screen import progress
from headrace.commands.fields import Seed, Sets
from headrace.commands.parameters import Help, Word
from headrace.files import atomic_file, check_apart, check_writable


def draw(
    file: A[
        Path,
        Word(metavar="FILE", is_argument=True),
        Help(
            "Scenario file, saved result, results:ID of a result in the store, or a net of your"
            " own."
        ),
    ],
    output: A[
        Path,
        Word(short="-o"),
        Help(
            "Picture (.svg, .png, .pdf), text for Graphviz (.dot), page for a browser (.html), or"
            " document of the net (.toml, .json) to write."
        ),
    ],
    sets: Sets = (),
    load: A[bool, Help("Run the scenario, and shade stations by utilisation.")] = False,
    depth: A[
        int | None,
        Help("Draw pages deeper than N as one symbol each: 0 shows the hosts. SVG only.", least=0),
    ] = None,
    playback: A[
        Path | None,
        Help(
            "Play a run in the page: a file of headrace run --playback, or of headrace net run"
            " --playback."
        ),
    ] = None,
    steps: A[
        int | None,
        Help(
            "Play N firings of a net of your own in the page: tokens move along the arcs.", least=1
        ),
    ] = None,
    seed: Seed = None,
    trusted: TrustedFiles = (),
    show_progress: ShowProgress = True,
) -> None:
    """Draw the net of a scenario, or a net of your own.

    The picture shows its pages, places, stations and transitions. A page for a browser can be
    zoomed, and plays the frames of a run. A document is a net to start from: what it cannot have
    of a scenario's net is counted and noted in it.
    """
    from headrace import simulate
    from headrace.drawing.net_player import net_element, net_page
    from headrace.net.model import is_net

    if output.suffix.lower() in (".toml", ".json"):
        options = {"--load": load, "--depth": depth is not None, "--playback": playback is not None}
        for option in (option for option, given in options.items() if given):
            raise ValueError(f"{option} and --output {output}: expected a picture or a page")
        if is_net(file):
            raise ValueError(f"--output {output}: write headrace net export {file} -o {output}")
        _write_document(file, output, sets)
        return
    if is_net(file):
        if sets:
            raise ValueError(f"--set: expected a scenario, but {file} is a net of your own")
        _draw_own(file, output, load, depth, playback, steps, seed, show_progress)
        return
    if steps is not None or seed is not None:
        option = "--seed" if steps is None else "--steps"
        raise ValueError(f"{option}: expected a net of your own, but {file} is a scenario")
    scenario = simulate.load_with_sets(file, sets)
    inputs = {"the scenario": file} | scenario.inputs
    check_apart({"--output": output}, inputs | ({"--playback": playback} if playback else {}))
    suffix = _suffix(output)
    if playback is not None:
        _check_page("--playback", output, suffix, load)
    _check_depth(depth, output, suffix)
    check_writable(output)
    structure = scenario.structure()
    stations = None
    if load:
        trusting = trust(trusted)
        with progress(scenario.name, show_progress) as report:
            document = simulate.run(
                scenario, progress=report, trust=trusting, server_series=False
            ).document
        stations = document["stations"]
    if suffix == ".html":
        frames = simulate.load_playback(playback) if playback is not None else None
        picture = net_page(
            scenario.name, net_element(structure, stations=stations, playback=frames)
        )
    else:
        picture = _picture(structure, suffix, stations, depth)
    _write(picture, output)


def _write_document(file: Path, output: Path, sets: Sequence[str]) -> None:
    """Write the net of a scenario as a document, and report what it lacks."""
    from headrace import simulate
    from headrace.net.model import as_text
    from headrace.net.outline import skeleton
    from headrace.plain_text import plain_line

    scenario = simulate.load_with_sets(file, sets)
    check_apart({"--output": output}, {"the scenario": file} | scenario.inputs)
    check_writable(output)
    net = skeleton(scenario.structure(), f"the net of {scenario.name}")
    with atomic_file(output) as partial:
        text = as_text(net.document, output.suffix.lower().removeprefix("."))
        partial.write_text(text, encoding="utf-8")
    typer.echo(plain_line(f"{output}: {net.sentence()}"), err=True)


def _suffix(output: Path) -> str:
    """Return the end of the picture's name in small letters; an error for another than these."""
    suffix = output.suffix.lower()
    if suffix not in ("", ".svg", ".png", ".pdf", ".dot", ".html"):
        raise ValueError(
            f"--output {output}: the net diagram is not {output.suffix}: expected a name that ends"
            " in .svg, .png, .pdf, .dot or .html; .toml or .json for a document"
        )
    return suffix


def _check_page(option: str, output: Path, suffix: str, load: bool) -> None:
    """Check that frames go into a page, which is not shaded too."""
    if load or suffix != ".html":
        other = "--load" if load else f"--output {output}"
        raise ValueError(f"{option} and {other}: expected a page that ends in .html, and no --load")


def _check_depth(depth: int | None, output: Path, suffix: str) -> None:
    if depth is not None and suffix in (".html", ".dot"):
        raise ValueError(
            f"--depth and --output {output}: it has the whole net: expected a name that ends in"
            " .svg, .png or .pdf"
        )


def _draw_own(
    file: Path,
    output: Path,
    load: bool,
    depth: int | None,
    playback: Path | None,
    steps: int | None,
    seed: int | None,
    show_progress: bool,
) -> None:
    """Draw a net of one's own."""
    from headrace.cli.net.foreign import load_net
    from headrace.cli.net.run import net_progress
    from headrace.drawing.net_player import net_element, net_page
    from headrace.simulate import load_playback

    check_apart({"--output": output}, {"the net": file, "--playback": playback})
    suffix = _suffix(output)
    _check_depth(depth, output, suffix)
    if playback is not None and steps is not None:
        raise ValueError("--playback and --steps: expected one of them")
    if seed is not None and steps is None:
        raise ValueError("--seed: expected --steps, whose firings it seeds")
    if playback is not None or steps is not None:
        _check_page("--steps" if playback is None else "--playback", output, suffix, load)
    check_writable(output)
    model = load_net(file)
    structure = model.structure()
    stations = None
    if load:
        with net_progress(model, None, show_progress) as report:
            nodes = model.run(progress=report, replications=1).runs[0]["nodes"]
        stations = [node | {"station": node["path"], "queue": node["mean_queue"]} for node in nodes]
    if steps is not None:
        with progress(model.name, show_progress) as report:
            tell = None if report is None else lambda now: report(now, 0, None)
            picture = model.play(seed=seed).animate(steps, progress=tell).page
    elif suffix == ".html":
        frames = load_playback(playback) if playback is not None else None
        element = net_element(structure, stations=stations, playback=frames)
        picture = net_page(model.name, element)
    else:
        picture = _picture(structure, suffix, stations, depth)
    _write(picture, output)


def _picture(
    structure: Mapping[str, Any],
    suffix: str,
    stations: Sequence[Mapping[str, Any]] | None,
    depth: int | None,
) -> str:
    """Return a picture as SVG, or a net for Graphviz."""
    from headrace.drawing.net_diagram import dot, draw, load_of

    if suffix == ".dot":
        return dot(structure)
    return draw(structure, load_of(structure, stations) if stations is not None else {}, depth)


def _write(picture: str, output: Path) -> None:
    from headrace.drawing.net_diagram import image

    suffix = output.suffix.lower()
    data = picture.encode()
    if suffix in (".png", ".pdf"):
        data = image(picture, "png" if suffix == ".png" else "pdf")
    with atomic_file(output) as partial:
        partial.write_bytes(data)
