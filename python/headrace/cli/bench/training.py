"""`headrace bench training`."""

import math
import tomllib
from collections.abc import Sequence
from typing import Annotated as A
from typing import Literal

from headrace._core import Loaded
from headrace.cli.bench.documents import Csv
from headrace.cli.bench.options import RepetitionsOfScenario, Space
from headrace.cli.bench.run import measure_and_print
from headrace.cli.options import AsJson, KeepFiles, PlotDirectory, ResultFile, ShowProgress
from headrace.cli.store_options import Labels, Stored
from headrace.commands.fields import BelowDirectory, Sets
from headrace.commands.parameters import Help
from headrace.quantities import numbered

MOST_FILES = 10_000_000
"""More than any steps take, and as many as a local file system may have."""
Preset = Literal["unet3d", "resnet50", "cosmoflow", "retinanet", "flux", "dlrm"]


def training(
    directory: BelowDirectory,
    preset: A[Preset, Help("Training whose samples, batches and times are taken.")] = "unet3d",
    accelerators: A[int, Help("Emulated accelerators of this host.", least=1, most=4096)] = 1,
    steps: A[int, Help("Steps of each accelerator in an epoch.", least=1)] = 10,
    files: A[
        int | None,
        Help("Files of the dataset; by default as many as give each step new samples.", least=1),
    ] = None,
    sets: Sets = (),
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    csv: Csv = None,
    plot: PlotDirectory = None,
    repeats: RepetitionsOfScenario = None,
    label: Labels = (),
    stored: Stored = True,
    keep: KeepFiles = False,
    show_progress: ShowProgress = True,
) -> int:
    """Measure how well a file system feeds accelerators in training.

    Loaders read samples as those of MLPerf Storage do; the computation of accelerators is a pause.
    Prints their utilisation (AU), samples a second, and what they wait for. Files are
    made in a directory of its own below DIR, which is removed at the end. --set gives other fields,
    such as workload.0.loaders=8.
    """
    text = scenario(preset, accelerators, steps, files, sets)
    return measure_and_print(
        text,
        directory,
        sets=sets,
        repeats=repeats,
        as_json=as_json,
        csv=csv,
        output=output,
        plot=plot,
        label=label,
        stored=stored,
        keep=keep,
        show_progress=show_progress,
    )


def scenario(
    preset: str, accelerators: int, steps: int, files: int | None, sets: Sequence[str] = ()
) -> str:
    """Return a training as a scenario with enough files for its steps. `sets` has other values, as
    `PATH=VALUE`.

    Raises:
        ValueError: Too few files are given.
    """
    text = (
        f'name = "{preset}"\n[clients]\nprocesses = {{}}\n'
        f'[[workload]]\npreset = "{preset}"\nsteps = {steps}\nfiles = {{}}\n'
    )
    most = text.format(accelerators, MOST_FILES)
    whole = tomllib.loads(Loaded.measured(most, "training.toml", list(sets)).toml)
    fields = whole["workload"][0]
    number = whole["clients"].get("processes", 1) * whole["clients"].get("count", 1)
    each = math.ceil(fields["steps"] * fields["batch"] / fields["samples_per_file"])
    needed = each * number
    if files is not None and files < needed:
        raise ValueError(
            f"--files {files}: {numbered(fields['steps'], 'step')} of"
            f" {numbered(number, 'accelerator')} take {needed} files: expected as many, or fewer"
            " --steps"
        )
    return text.format(accelerators, files or needed)
