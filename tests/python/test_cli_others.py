"""The commands beside `headrace run`."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

import headrace as hr
from conftest import SMALL, Command, shipped
from headrace import _core

DRAWN_WHOLE = ("striped-read", "pfssim-sfq", "leaf-spine", "incast", "straggler", "nguyen-iod")


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.stem)
def test_nets_of_shipped_scenarios(path: Path, headrace: Command, tmp_path: Path) -> None:
    picture = tmp_path / "net.svg"
    # Nets of machines take minutes to be drawn with all their pages open.
    depth = () if path.stem in DRAWN_WHOLE else ("--depth", "1")
    ended = headrace("net", path, "-o", picture, *depth)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == ended.stderr == ""
    text = "".join(ElementTree.parse(picture).getroot().itertext())
    scenario = tomllib.loads(hr.load(path).toml)
    words = ["client", "processor", "device"]
    if scenario["kind"] != "local":
        # A device that data streams through is a part of the network's paths.
        streaming = scenario["servers"]["streaming"]
        link = {"message": "link", "flow": "flows", "packet": "packets"}
        words = ["client", link[scenario["network"]["grain"]], "server"]
        words += [] if streaming else ["device"]
    for word in words[:1] if depth else words:
        assert word in text


def test_a_net_is_shaded_by_load(headrace: Command, small: Path, tmp_path: Path) -> None:
    plain, loaded = tmp_path / "plain.svg", tmp_path / "loaded.svg"
    assert headrace("net", small, "-o", plain).returncode == 0
    assert headrace("net", small, "-o", loaded, "--load").returncode == 0
    stations = hr.run(hr.load(small)).stations
    busy = stations.filter(stations["station"] == "system/server/device")["utilisation"].item()
    assert 0.1 < busy < 1
    assert f"{100 * busy:.0f} %" in loaded.read_text().replace("%", " %").replace("  ", " ")
    assert plain.read_text() != loaded.read_text()


def test_an_explained_scenario_is_that_scenario(headrace: Command, small: Path) -> None:
    ended = headrace("explain", small, "--set", "clients.count=8")
    assert ended.returncode == 0
    assert "# --set clients.count=8" in ended.stdout
    assert f"{small}:14:11" in ended.stdout
    again = hr.load(ended.stdout)
    assert again.toml == hr.load(small, {"clients.count": 8}).toml


def test_the_schema_takes_shipped_scenarios_and_refuses_typos(headrace: Command) -> None:
    schema = json.loads(headrace("schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in shipped():
        validator.validate(tomllib.loads(path.read_text()))
    wrong = tomllib.loads(SMALL.replace("count = 4", "cuont = 4"))
    assert not validator.is_valid(wrong)


def test_short_answers(headrace: Command) -> None:
    assert headrace("--version").stdout == f"headrace {hr.__version__}\n"
    listed = [line.split()[0] for line in headrace("presets").stdout.splitlines()]
    systems, workloads = (
        [name for name, _ in names] for names in (_core.presets(), _core.workloads())
    )
    assert listed == ["system", *systems, "[[workload]]", *workloads]
    assert "pfssim" in headrace("papers").stdout.splitlines()
    bare = headrace()
    assert bare.returncode == 0
    for command in ("run", "whatif", "net", "explain", "schema", "presets", "trace", "papers"):
        assert command in bare.stdout
        usage = headrace(command, "--help")
        assert usage.returncode == 0
        assert f"headrace {command}" in usage.stdout


def test_a_paper_gets_its_arguments_and_gives_its_status(tmp_path: Path) -> None:
    script = tmp_path / "papers" / "mine" / "reproduce.py"
    script.parent.mkdir(parents=True)
    script.write_text("import sys\nprint(sys.argv[1:])\nsys.exit(7)\n")
    inside = tmp_path / "deep" / "er"
    inside.mkdir(parents=True)
    ended = subprocess.run(
        [sys.executable, "-m", "headrace", "papers", "mine", "--json", "--out", "here"],
        cwd=inside,
        env=os.environ | {"HEADRACE_TRUST": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == ("['--json', '--out', 'here']\n", "")
    assert ended.returncode == 7


def test_latency_from_the_intended_start_is_shown(headrace: Command, tmp_path: Path) -> None:
    trace = tmp_path / "late.csv"
    lines = ["time,process,operation,file,offset,size,duration"]
    # One process asks for 1 MB every millisecond, which takes several.
    lines += [f"0.{number:03},p,read,/f,{number}000000,1000000,0.001" for number in range(20)]
    trace.write_text("\n".join(lines) + "\n")
    scenario = tmp_path / "late.toml"
    text = SMALL[: SMALL.index("[[workload]]")]
    text += '[[workload]]\nkind = "trace"\nfile = "late.csv"\nreplay = "timed"\n'
    scenario.write_text(text)
    document = json.loads(headrace("run", scenario, "--json").stdout)
    late, own = (document[key]["read"] for key in ("latency_from_intended", "latency"))
    assert late["count"] == own["count"] == 20
    assert late["max"] > 5 * own["max"]
    table = headrace("run", scenario).stdout
    assert "Latency from the intended start" in table
    assert f"{1e3 * late['mean']:.1f}" in table


def test_traces_are_made_and_summed_up(headrace: Command, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    ended = headrace(
        "trace", "synth", path, "--processes", 3, "--block", "1 MiB", "--think", "2 ms",
        "--phases", "read", "--file-per-process",
    )  # fmt: skip
    assert ended.stdout == f"{path}: 18 records\n"
    document = json.loads(headrace("trace", "info", path, "--json").stdout)
    assert document["summary"]["bytes_read"] == 3 << 20
    assert document["summary"]["files"] == 3
    table = headrace("trace", "info", path).stdout
    assert "3.15 MB" in table
    copy = tmp_path / "t.csv"
    assert headrace("trace", "import", path, copy).returncode == 0
    again = json.loads(headrace("trace", "info", copy, "--json").stdout)
    assert again["summary"] == document["summary"]
    assert headrace("trace", "import", copy, copy).returncode == 2
    assert copy.stat().st_size > 0
