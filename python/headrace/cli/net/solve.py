"""`headrace net solve`."""

import json
from typing import Annotated as A

from headrace.cli.net.foreign import NetFile, load_net
from headrace.cli.options import AsJson
from headrace.cli.screen import counted, show_view
from headrace.commands.parameters import Help, Word
from headrace.commands.values import span


def solve(
    file: NetFile,
    at: A[
        tuple[float, ...],
        span(0.0),
        Word(metavar="TIME"),
        Help("Solve for this time too, such as '10 s'; can be repeated."),
    ] = (),
    where: A[
        tuple[str, ...],
        Word(metavar="CONDITION"),
        Help("Compute the probability of markings such as 'queue >= 3'; can be repeated."),
    ] = (),
    limit: A[
        int, Word("--max-markings"), Help("Markings at which the search ends.", least=1)
    ] = 200_000,
    as_json: AsJson = False,
) -> None:
    """Compute the steady state of a net whose times are all exponential, without a run."""
    from headrace.views.net_solution import view

    model = load_net(file)
    with counted(model.name, "markings") as tell:
        solution = model.solve(at, conditions=where, limit=limit, progress=tell)
    if as_json:
        print(json.dumps(solution.document))
    else:
        show_view(view(solution))
