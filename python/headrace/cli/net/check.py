"""`headrace net check`."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated as A
from typing import Any

import typer

from headrace.cli.net.foreign import NetFile, load_net
from headrace.cli.options import AsJson
from headrace.commands.parameters import Help, Word
from headrace.kinds import with_kind


def check(
    file: NetFile,
    space: A[bool, Word("--state-space"), Help("Explore it: deadlocks, bounds, liveness.")] = False,
    symbolic: A[
        bool, Help("Explore it by decision diagrams: billions of markings of plain tokens.")
    ] = False,
    limit: A[
        int, Word("--max-markings"), Help("Markings at which the search ends.", least=1)
    ] = 1_000_000,
    timed: A[bool, Help("Take delays and services into account in the state space.")] = False,
    reach: A[
        str | None,
        Word(metavar="CONDITION"),
        Help("Find the nearest marking with this property, such as 'queue >= 3'."),
    ] = None,
    holds: A[
        tuple[str, ...],
        Word(metavar="FORMULA"),
        Help(
            "Check a formula of branching or linear temporal logic, such as 'AG(EF(queue == 0))'"
            " or 'G(F(queue == 0))'; can be repeated."
        ),
    ] = (),
    deadlock: A[
        bool,
        Help(
            "Search for a deadlock only, in a part of the markings: of a smaller net by stubborn"
            " sets, or where colours are alike."
        ),
    ] = False,
    reduced: A[bool, Help("Search for a marking to --reach only, as --deadlock does.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a net of your own: its document, invariants and state space.

    The exit status is 1 if the state space has a deadlock, no marking that --reach asks for, or
    if a formula does not hold. With --deadlock it is 1 also if the search ended early.
    """
    from headrace.cli.screen import counted, show_line

    model = load_net(file)
    is_alone = deadlock and reach is None and not holds
    if (deadlock and not is_alone) or (reduced and (reach is None or deadlock or holds)):
        raise typer.BadParameter("expected --deadlock alone, or --reduced with --reach")
    # A reduced search is for nets with thousands of invariants, too.
    invariants = {} if deadlock or reduced else {"invariants": model.invariants()}
    found = None
    if symbolic:
        if space or timed or holds or deadlock or reduced:
            raise typer.BadParameter(
                "--symbolic knows no single markings: leave out --state-space, --timed, --holds,"
                " --deadlock and --reduced"
            )
        with counted(model.name, "markings") as tell:
            found = model.symbolic_space(reach=reach, progress=tell)
    elif space or timed or reach is not None or holds or deadlock:
        with counted(model.name, "markings") as tell:
            found = model.state_space(
                limit,
                timed=timed,
                reach=reach,
                holds=holds,
                deadlock=deadlock,
                reduced=reduced,
                progress=tell,
            )
    if as_json:
        space_found = {"state_space": found.document} if found else {}
        document = {"name": model.name, **invariants, **space_found}
        print(json.dumps(with_kind("net-check", document)))
    else:
        for line in _invariant_lines(**invariants):
            show_line(line)
        for sentence in found.sentences() if found else ():
            show_line(sentence)
        if reach is not None and found is not None and found.reached is None:
            what = "no marking" if found.complete else "no marking before the limit"
            show_line(f"{what} has the property {reach}")
    wrong = [] if found is None else [held for held in found.formulas if held["holds"] is False]
    undecided = deadlock and found is not None and not found.complete
    missed = reach is not None and found is not None and found.reached is None
    if found and (found.deadlocks or undecided or wrong or missed):
        raise typer.Exit(1)


def _invariant_lines(invariants: Mapping[str, Any] | None = None) -> Iterator[str]:
    if invariants is None:
        return
    for total, value in invariants["places"].items():
        yield f"always {total} = {value}"
    for path in invariants["uncovered"]:
        yield f"tokens of {path} are in no invariant sum"
    for firings in invariants["transitions"] or ():
        yield f"changes no number of tokens: {firings}"
    for first, *others in invariants["alike"]:
        yield f"change tokens as {first} does: {', '.join(others)}"
    for part, why in invariants["not_computed"].items():
        yield f"not computed: {part}: {why}"
