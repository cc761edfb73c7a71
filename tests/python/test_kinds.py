"""Every result in JSON names its kind, and the table of kinds knows it."""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

from command import command
from conftest import MIX, ROOT, SMALL
from darshan_logs import log
from design_search_sample import CATALOGUE_TEXT, WORKSHEET_TEXT
from headrace import __version__, kinds
from headrace.cli.app import app
from headrace.render.blocks import Headline
from test_design_smart import ata

DATA = ROOT / "tests" / "data"
BENCH = "DIR --no-store"
ARRAY = "--level raid6 --disks 12 --capacity 4TB --nodes 4"
PRINTED = {
    "bench blocks": (f"--file-size 64k --block-sizes 16k --repetitions 1 {BENCH}", "study"),
    "bench clean": ("DIR", "bench-clean"),
    "bench mix": (f"--workload MIX --rates 100 --time 0.05 --warm-up 0 {BENCH}", "load-sweep"),
    "bench quick": (f"--file-size 16MiB --time 0.05 {BENCH}", "jobs"),
    "bench run": (f"MIX --time 0.1 {BENCH}", "measured"),
    "bench fio": (f"--name=x --size=1m --ioengine=psync {BENCH}", "jobs"),
    "bench io500": (f"--stonewall 0.1s --space 200MB {BENCH}", "measured"),
    "bench ior": ("DIR -w -t 4k -b 64k --no-store", "measured"),
    "bench mdtest": ("DIR -n 3 -F --no-store", "measured"),
    "bench dd": ("DIR if=/dev/zero of=file bs=4k count=3 --no-store", "measured"),
    "bench training": (f"--preset cosmoflow --steps 3 {BENCH}", "measured"),
    "design capacity": (ARRAY, "design-figures"),
    "design check": ("WORKSHEET", "design-check"),
    "design archive": ("--usable 500TB --object-price 4", "design-figures"),
    "design cost": (f"{ARRAY} --node-price 4000 --disk-price 120", "design-figures"),
    "design growth": (
        "--usable 20TB --growth 40% --years 5 --unit 16TB --node-price 3500 --disks-price 3000",
        "design-figures",
    ),
    "design lifetimes": ("AGES", "lifetimes"),
    "design power": ("--nodes 10 --amperes 5 --max-amperes 8 --voltage 120", "design-figures"),
    "design recommend": ("WORKSHEET", "recommendation"),
    "design reliability": (
        "--level raid6 --disks 8 --mttf 1000000h --mttr 24h",
        "reliability",
    ),
    "design smart": ("SMART", "smart"),
    "design solve": ("WORKSHEET --catalogue CATALOGUE --no-progress", "solution"),
    "design spares": (
        "--disks 48 --shelves 3 --mttf 1000000h --restock 14d --probability 0.99",
        "spares",
    ),
    "doctor": ("", "doctor"),
    "net check": ("NET", "net-check"),
    "net run": ("NET", "net-run"),
    "net solve": ("REPAIR", "net-solution"),
    "optimise": ("SMALL --vary clients.count=2,4 --maximise throughput", "optimum"),
    "results check": ("", "store-check"),
    "results compare": ("FIRST last", "comparison"),
    "run": ("SMALL --no-store --set run.replications=2", "simulated"),
    "sweep": ("SMALL --vary clients.count=2,4 --no-store", "sweep"),
    "trace anonymise": ("TRACE COPY.csv", "trace-edit"),
    "trace convert": ("TRACE COPY.csv", "trace-edit"),
    "trace cut": ("TRACE COPY.csv --to 1", "trace-edit"),
    "trace findings": ("TRACE", "trace-findings"),
    "trace import": ("TRACE COPY.csv", "trace-edit"),
    "trace info": ("TRACE --full", "trace-info"),
    "trace mix": ("TRACE", "trace-mix"),
    "trace scale": ("TRACE COPY.csv --time 2", "trace-edit"),
    "trace synth": ("COPY.csv", "trace-edit"),
    "trace workload": ("LOG", "trace-workload"),
    "twin": ("--again TWIN", "validation"),
    "whatif": ("SMALL --only servers.count --no-kinds", "whatif"),
}
"""Commands that print a result, with arguments and the kind."""
WITHOUT_HEADLINE = {"simulated", "comparison", "doctor", "testbed", "trace-findings"}
"""Kinds that are no figures, or whose page has cards of its own."""
SAVED = {
    "baseline": "baseline",
    "bench clients": "study",
    "bench copy": "study",
    "bench disk": "study",
    "bench meta": "study",
    "bench net ask": "network",
    "bench net ranks": "network-matrix",
    "bench sweep": "study",
    "bench tune": "tuning",
    "calibrate": "calibration",
    "profile record": "profile",
    "trace replay": "measured",
    "validate": "validation",
}
"""Commands that take long, or need more than this machine, with the kind of their documents. Those
of `tests/data` were saved by them."""
NO_RESULTS = {"design catalogue", "presets", "results list", "results show"}
"""Commands that print what others have made."""
TESTBEDS = {"lab up": "testbed", "lab status": "testbed"}


def commands_with_json(command: Any, name: str = "") -> Iterator[str]:
    """Yield the names of all commands with the option `--json`."""
    # An item of the commands may be a text until it is used.
    for below in getattr(command, "commands", {}):
        yield from commands_with_json(command.commands[below], f"{name} {below}")
    if any("--json" in parameter.opts for parameter in command.params):
        yield name.strip()


def test_every_command_with_json_is_listed() -> None:
    listed = {*PRINTED, *SAVED, *NO_RESULTS, *TESTBEDS}
    assert set(commands_with_json(typer.main.get_command(app))) == listed
    named = {kind for _, kind in PRINTED.values()} | {*SAVED.values(), *TESTBEDS.values()}
    assert named == set(kinds.KINDS)


def without_kind(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("kind", "version")}


@pytest.mark.parametrize("name", PRINTED)
def test_a_printed_result_names_its_kind(name: str, tmp_path: Path, place: Path) -> None:
    arguments, kind = PRINTED[name]
    contents = {
        "AGES": "age,failed\n" + "1000,0\n2000,1\n3000,1\n" * 9,
        "CATALOGUE": CATALOGUE_TEXT,
        "MIX": f'name = "mix"\n{MIX}',
        "SMALL": SMALL,
        "SMART": json.dumps(ata("a", {5: 0})),
        "WORKSHEET": WORKSHEET_TEXT,
    }
    files = {word: tmp_path / f"{word}.toml" for word in contents}
    for word, path in files.items():
        path.write_text(contents[word])
    files |= {"DIR": tmp_path, "NET": ROOT / "scenarios/nets/queue.toml"}
    files["REPAIR"] = ROOT / "scenarios/nets/machine-repair.toml"
    files |= {"TWIN": DATA / "twins" / "ext4-60.json"}
    files |= {"TRACE": DATA / "traces" / "log.csv", "COPY.csv": tmp_path / "copy.csv"}
    words = {**files, "LOG": log("sample-dxt-simple")} if "LOG" in arguments else files
    if name == "results compare":
        for seed in (1, 2):
            command("run", files["SMALL"], "--set", f"run.seed={seed}")
        listed = json.loads(command("results", "list", "--json").stdout)
        words = {"FIRST": listed["results"][-1]["id"]}
    given = [words.get(word, word) for word in arguments.split()]
    ended = command(*name.split(), *given, "--json")
    document = json.loads(ended.stdout)
    assert (document["kind"], document["version"]) == (kind, __version__), ended.stderr
    known = kinds.KINDS[kind]
    assert kinds.kind_of(document) == kind
    if known.fields:
        earlier = without_kind(document)
        assert kinds.kind_of(earlier) == kind
        assert not known.view or kinds.blocks(kind, document) == kinds.blocks(kind, earlier)
    assert has_headline(document)


def has_headline(document: Mapping[str, Any]) -> bool:
    """Return whether a result has figures for the cards of its page, or needs none."""
    kind = kinds.KINDS[kinds.kind_of(document)]
    if not kind.view or kind.name in WITHOUT_HEADLINE:
        return True
    return any(it.figures for it in kinds.blocks(kind.name, document) if isinstance(it, Headline))


def saved_documents() -> Iterator[Mapping[str, Any]]:
    """Yield saved documents of earlier versions, and the parts of them that are results."""
    for path in sorted((DATA / "documents").glob("*.json")):
        yield json.loads(path.read_text())
    with zipfile.ZipFile(io.BytesIO((DATA / "documents/profile.zip").read_bytes())) as archive:
        (name,) = (it for it in archive.namelist() if it.endswith("/result.json"))
        yield json.loads(archive.read(name))["document"]
    twin = json.loads((DATA / "twins/ext4-60.json").read_text())
    yield from (twin, twin["calibration"])


def test_saved_results_of_earlier_versions_are_recognised() -> None:
    documents = {kinds.kind_of(it): it for it in saved_documents()}
    assert {*SAVED.values(), "simulated", "load-sweep", "jobs", "sweep"} == documents.keys()
    for kind, document in documents.items():
        assert "kind" in document or kind == "simulated"
        assert not kinds.KINDS[kind].fields or kinds.kind_of(without_kind(document)) == kind
        assert document["version"] == __version__
        assert kinds.blocks(kind, document)
        assert has_headline(document), kind


@pytest.mark.parametrize("kind", [it for it in kinds.KINDS.values() if it.former])
def test_former_names_are_recognised(kind: kinds.Kind) -> None:
    assert kinds.kind_of({"kind": kind.former}) == kind.name


def test_an_unknown_document_has_no_kind() -> None:
    assert kinds.kind_of({"seed": 1}) == "" and kinds.kind_of({"kind": "rain"}) == "rain"
