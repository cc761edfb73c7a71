"""`headrace design spares`."""

from typing import Annotated

import typer

from headrace.cli.design.output_options import PlotPath, check_plot, save_plot
from headrace.cli.design.progress import part_done
from headrace.cli.design.quantity_options import FailureFactor, Mttf, probability, time
from headrace.cli.options import AsJson, parsed
from headrace.cli.screen import print_json, show_view

MOST_DISKS = 10_000_000


def spares(
    disks: Annotated[
        int,
        typer.Option(
            "--disks", min=1, max=MOST_DISKS, help="Disks of the system, hot spares not counted."
        ),
    ],
    restock: Annotated[
        str,
        typer.Option(
            "--restock", metavar="TIME", help='Time until a new disk is a spare, such as "14 d".'
        ),
    ],
    mttf: Mttf = None,
    lifetime: Annotated[
        str | None,
        typer.Option(
            "--lifetime",
            metavar="LAW",
            help="In place of --mttf: weibull:SHAPE,SCALE, such as weibull:1.12,461386h.",
        ),
    ] = None,
    failure_factor: FailureFactor = 1.0,
    wanted: Annotated[
        str,
        typer.Option(
            "--probability",
            metavar="P",
            help="Probability that a failed disk finds a spare, such as 0.99.",
        ),
    ] = "0.99",
    shelves: Annotated[int, typer.Option("--shelves", min=1, help="Shelves of disks.")] = 1,
    everywhere: Annotated[
        bool,
        typer.Option(
            "--global/--per-shelf",
            help="Share spares between all shelves, or not.",
        ),
    ] = True,
    years: Annotated[float, typer.Option("--years", help="Years of a simulated mission.")] = 5.0,
    missions: Annotated[
        int,
        typer.Option("--missions", min=0, help="Missions of the simulation; 0: none."),
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the simulation.")] = 0,
    as_json: AsJson = False,
    plot: PlotPath = None,
) -> None:
    """Find the fewest hot spares so that a failed disk finds one with a wanted probability.

    Prints the probability for each number of spares, by the formula and by simulation.
    """
    import msgspec

    from headrace.design.reliability.laws import mean_seconds, parse_lifetime
    from headrace.design.reliability.question import Exponential, Weibull
    from headrace.design.spares import Pooling, SpareAdvice, advise, simulate
    from headrace.views.spares import view

    check_plot(plot)
    if (mttf is None) == (lifetime is None):
        raise ValueError('expected either --mttf "1000000 h" or --lifetime weibull:1.12,461386h')
    if not 0 < failure_factor <= 1e6:
        raise ValueError(f"--failure-factor {failure_factor:g}: expected a number above 0")
    if not 0 < years <= 100:
        raise ValueError(f"--years {years:g}: expected years above 0, at most 100")
    if shelves > disks:
        raise ValueError(f"--shelves {shelves}: expected no more shelves than --disks {disks}")
    if mttf is not None:
        law: Exponential | Weibull = Exponential(time("--mttf", mttf) / failure_factor)
    else:
        given = parsed("--lifetime", lifetime or "", parse_lifetime)
        if not isinstance(given, Exponential | Weibull) or failure_factor != 1:
            raise ValueError(
                f'--lifetime "{lifetime}": expected weibull: or exponential: here, without'
                " --failure-factor"
            )
        law = given
    restocking = time("--restock", restock)
    target = probability("--probability", wanted)

    def advice(pooling: Pooling, pools: int) -> SpareAdvice:
        return advise(
            disks=disks,
            mttf=mean_seconds(law),
            restocking=restocking,
            wanted=target,
            pools=pools,
            pooling=pooling,
        )

    chosen, other = advice("global", 1), advice("per-shelf", shelves)
    if not everywhere:
        chosen, other = other, chosen
    if missions:
        with part_done("spares") as on_progress:
            chosen = simulate(
                chosen,
                disks=disks,
                lifetime=law,
                restocking=restocking,
                years=years,
                missions=missions,
                seed=seed,
                on_progress=on_progress,
            )
    shown = view(chosen, other if shelves > 1 else None)
    if plot is not None:
        save_plot(plot, shown)
    if as_json:
        document = msgspec.to_builtins(chosen)
        if shelves > 1:
            document["other"] = {
                "pooling": other.pooling,
                "spares": other.spares,
                "probability": other.probability,
            }
        print_json(document, "spares")
        return
    show_view(shown)
