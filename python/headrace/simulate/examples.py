"""Examples of scenarios and nets in the package, and first scenarios made of presets."""

import itertools
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import msgspec

from headrace._core import Loaded, ScenarioError

FIRST = ("io500-whatif", "pfssim-write-then-read", "nfs", "mixed-reads-and-writes")
"""Examples that come first: small ones of several kinds."""
NETS = "nets"
"""Folder of the nets among the examples."""


class Example(msgspec.Struct, frozen=True):
    """A scenario or a net of the package."""

    name: str
    """Name of its file without the ending."""
    title: str
    description: str
    text: str


@cache
def examples(folder: str = "") -> Sequence[Example]:
    """Return all scenarios, `FIRST` first, or all examples in a folder, such as `NETS`."""
    entries = []
    for file in files("headrace").joinpath("demo", folder).iterdir():
        if file.name.endswith(".toml"):
            text = file.read_text(encoding="utf-8")
            document = tomllib.loads(text)
            name = file.name.removesuffix(".toml")
            title = document.get("name", name)
            # Nets have it in the comment at their head.
            head = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
            comment = " ".join(line.strip("# ") for line in head).strip()
            entries.append(Example(name, title, document.get("description", comment), text))
    order = {name: at for at, name in enumerate(FIRST)}
    return sorted(entries, key=lambda one: (order.get(one.name, len(FIRST)), one.title.lower()))


def example(name: str) -> Example | None:
    """Return an example by its name."""
    return next((each for each in examples() if each.name == name), None)


HEAD = """\
name = "{workload} on {system}"
system = "{system}"
"""
PARALLEL = """
[clients]
count = 4

[servers]
count = {servers}

[servers.device]            # an assumption: one SATA SSD each
read_rate = "550 MB/s"
write_rate = "480 MB/s"

[network]
bandwidth = "10 Gbit/s"
latency = "50 us"           # an assumption of the usual size for Ethernet
"""
LAYOUT = """
[layout]
unit = "64 KiB"
"""
DEVICE = """
[machine.device]            # an assumption: one SATA SSD
read_rate = "550 MB/s"
write_rate = "480 MB/s"
"""
WORK = """
[[workload]]
preset = "{workload}"

[run.stop]
time = "10 s"
"""
FORMS = (HEAD + PARALLEL + WORK, HEAD + PARALLEL + LAYOUT + WORK, HEAD + WORK, HEAD + DEVICE + WORK)
"""Forms of a first scenario, of which one suits each system."""
ONE_SERVER = ("nfs", "cifs")


FEW_FILES = (32, 128)


def scenario_of_presets(system: str, workload: str) -> str:
    """Return the text of a small scenario with the preset of a system and that of a workload.

    Some workloads do not run on some systems: the text then has the error that it has.

    Raises:
        ValueError: if there is no such preset.
    """
    from headrace import _core

    for name, known in ((system, _core.presets()), (workload, _core.workloads())):
        if name not in dict(known):
            raise ValueError(f"there is no preset {name}: headrace presets lists them")
    servers = 1 if system in ONE_SERVER else 4
    texts = [form.format(system=system, workload=workload, servers=servers) for form in FORMS]
    # The dataset of a training may be too large for the system's disks.
    line = f'preset = "{workload}"\n'
    texts += [
        text.replace(line, f"{line}files = {files}\n") for files in FEW_FILES for text in texts
    ]
    lines = {}
    for text in texts:
        try:
            Loaded.from_text(text, "scenario.toml", [])
        except ScenarioError as error:
            # The one of the right form is wrong in a later line, if it is wrong.
            lines[text] = error.line or 0
        else:
            return text
    return max(texts, key=lambda key: lines[key])
