"""Nets of scenarios as documents to start from."""

import re
from pathlib import Path
from typing import Any

import pytest

import headrace as hr
from conftest import ROOT, Command
from headrace import ScenarioError
from headrace.drawing.net_diagram import draw
from headrace.net import Net, load
from headrace.net.model import as_text
from headrace.net.outline import skeleton

SCENARIOS = ROOT / "scenarios"


def drawn(structure: dict[str, Any]) -> str:
    """Return a drawing without the numbers of elements."""
    return re.sub(r' data-(id|source|target)="n?\d+"', "", draw(structure))


def outputs(structure: dict[str, Any]) -> list[Any]:
    """Return the arcs of all transitions by paths, and what else they use."""
    names: dict[str, dict[int, str]] = {"nodes": {}, "stores": {}}
    found: list[Any] = []

    def walk(page: dict[str, Any], visit: Any) -> None:
        visit(page)
        for inner in page["pages"]:
            walk(inner, visit)

    def name(page: dict[str, Any]) -> None:
        for key, known in names.items():
            known |= {it["id"]: f"{page['path']}/{it['name']}" for it in page[key]}

    def arcs(page: dict[str, Any]) -> None:
        nodes, stores = names["nodes"], names["stores"]
        for node in page["nodes"]:
            keys = ("name", "kind", "discipline", "copies", "colour", "sink", "initial")
            found.append([page["path"], *(node.get(key) for key in keys)])
        for it in page["transitions"]:
            found.append(
                (
                    f"{page['path']}/{it['name']}",
                    it["priority"],
                    it["guarded"],
                    [(nodes[a["node"]], a["weight"], a["by"]) for a in it["inputs"]],
                    [
                        (nodes[a["node"]], a["how"], a["delayed"], a["selects_copy"])
                        for a in it["outputs"]
                    ],
                    [stores[id] for id in it["stores"]],
                    [nodes[id] for id in it["signals"]],
                    [nodes[id] for id in it.get("observed_nodes", ())],
                    [stores[id] for id in it.get("observed_stores", ())],
                )
            )

    walk(structure["page"], name)
    walk(structure["page"], arcs)
    return found


@pytest.mark.parametrize("scenario", sorted(it.stem for it in SCENARIOS.glob("*.toml")))
def test_a_scenario_as_a_document_has_its_elements(scenario: str, tmp_path: Path) -> None:
    structure = hr.load(SCENARIOS / f"{scenario}.toml").structure()
    net = skeleton(structure)
    path = tmp_path / "net.json"
    path.write_text(as_text(net.document, "json"))
    model = load(path)
    assert outputs(model.structure()) == outputs(structure)
    assert model.invariants()["uncovered"] is not None
    assert net.left_out["actions"] == sum(
        isinstance(element, tuple) for element in outputs(structure)
    )


def test_constant_services_first_tokens_and_ports_come_along() -> None:
    text = (SCENARIOS / "striped-read.toml").read_text()
    sets = {"clients.count": 3, "servers.daemon": {"threads": 8, "time_per_job": "30 us"}}
    document = skeleton(hr.load(text, sets).structure()).document
    pages = document["pages"]
    daemon = pages["server"]["stations"]["daemon"]
    assert (daemon["service"], daemon["servers"], daemon["discipline"]) == (30e-6, 8, "fcfs")
    assert pages["server"]["copies"] == 4
    assert pages["server"]["ports"]["receive"] == {"direction": "in", "place": "card receiving"}
    assert pages["client"]["connect"]["complete"] == "processes/complete"
    ready = pages["processes"]["places"]["ready"]
    assert ready["initial"] == [{"token": "Process()", "count": "3"}]
    assert pages["client"]["transitions"]["split"]["let"] == ["way = below(2)"]


@pytest.mark.parametrize("format", ["toml", "json"])
def test_the_document_is_drawn_as_the_scenario(format: str, tmp_path: Path) -> None:
    structure = hr.load(SCENARIOS / "striped-read.toml").structure()
    path = tmp_path / f"net.{format}"
    path.write_text(as_text(skeleton(structure).document, format))
    model = load(path)
    assert drawn(model.structure()) == drawn(structure)
    # What stands in runs.
    assert model.run(until=20.0).runs[0]["firings"] > 100


def test_the_command_writes_it_and_reports_what_it_lacks(headrace: Command, tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    ended = headrace("net", SCENARIOS / "striped-read.toml", "-o", path, "--set", "clients.count=2")
    assert ended.returncode == 0
    assert ended.stdout == ""
    assert re.search(r"net\.toml: left out, and noted in descriptions: 13 actions, ", ended.stderr)
    assert "7 service times" in ended.stderr
    text = path.read_text()
    assert 'description = "left out: fields of its colour, service time"' in text
    checked = headrace("net", "check", path)
    assert checked.returncode == 0
    assert "system/client/outstanding" in checked.stdout
    picture = tmp_path / "net.svg"
    assert headrace("net", path, "-o", picture).returncode == 0
    assert "link, 1 Gbit/s" in picture.read_text()


def test_wrong_options_and_outlines_are_refused(headrace: Command, tmp_path: Path) -> None:
    queue = SCENARIOS / "nets" / "queue.toml"
    for arguments, text in (
        ((SCENARIOS / "striped-read.toml", "-o", tmp_path / "n.json", "--load"), "--load and"),
        ((SCENARIOS / "striped-read.toml", "-o", tmp_path / "n.json", "--depth", "1"), "--depth"),
        ((queue, "-o", tmp_path / "n.json"), "headrace net export"),
    ):
        ended = headrace("net", *arguments)
        assert ended.returncode == 2 and text in ended.stderr and "Traceback" not in ended.stderr
    wrong = tmp_path / "wrong.toml"
    for outline, text in (
        (
            '{ stores = ["queue/ledger"] }',
            "queue/leave: outline.stores: there is no 'queue/ledger'",
        ),
        ("3", "queue/leave: outline: expected a table"),
        ("{ outputs = [3] }", "expected tables as headrace net writes them"),
    ):
        wrong.write_text(
            queue.read_text().replace('take = "desk"', f'take = "desk"\noutline = {outline}')
        )
        with pytest.raises(ScenarioError, match=re.escape(text)):
            load(wrong)


def test_names_with_a_slash() -> None:
    net = Net("n")
    with net.page("in/out") as page:
        wait = page.place("I/O", initial=1)
        enter = page.input("go/in", wait)
    done = net.place("done/over", sink=True)
    with page.transition("end") as t:
        t.take(wait)
        t.put(done)
    with net.transition("again") as t:
        t.take(done)
        t.put(enter)
    (inner,) = net.model().structure()["page"]["pages"]
    assert [it["name"] for it in inner["nodes"]] == ["I/O"]
    assert net.document()["transitions"]["again"]["put"] == [{"place": "in//out/go//in"}]
