"""The Python interface as researchers use it: scenarios, pickles, Dask, tables and commands."""

import contextlib
import copy
import inspect
import keyword
import multiprocessing
import os
import pickle
import pty
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import nbclient
import nbformat
import pandas
import polars as pl
import pytest
from distributed import Client, LocalCluster

import headrace as hr
from conftest import ROOT, SMALL
from headrace.commands.design import CALCULATIONS, record
from headrace.commands.parameters import parameters

DICTIONARY = tomllib.loads(SMALL)


LAB = ROOT / "scenarios" / "design" / "lab.toml"


def figures_of(document: Any) -> Any:
    return document | {"wall_seconds": 0}


def figures(result: hr.Result) -> Any:
    return figures_of(result.document)


def playback(result: hr.Result) -> pl.DataFrame:
    assert result.playback is not None
    return result.playback.table()


def test_a_run_takes_paths_texts_dictionaries_and_scenarios(small: Path) -> None:
    scenario = hr.load(small)
    sources: list[Any] = [small, str(small), SMALL, DICTIONARY, scenario]
    for source in sources:
        assert figures(hr.run(source)) == figures(hr.run(scenario))
    assert hr.load(scenario, {"clients.count": 7})["clients.count"] == 7
    assert hr.load(DICTIONARY | {"clients.count": 7})["clients.count"] == 7
    vary = {"clients.count": [2]}
    for source in sources:
        assert len(hr.sweep(source, vary).runs) == 1
        assert hr.whatif(source, only=["layout.unit"], kinds=False).frame.height == 1
        assert hr.optimise(source, vary, maximise="throughput").best is not None


@pytest.mark.parametrize("source", [3, None, ["a.toml"], b"a.toml"])
def test_anything_else_is_no_scenario(source: Any) -> None:
    with pytest.raises(TypeError, match=f"expected a scenario: .*, not {type(source).__name__}"):
        hr.run(source)


def test_a_wrong_dictionary_names_the_field() -> None:
    with pytest.raises(hr.ScenarioError, match=r'dictionary:3:.*"cuont" in \[clients\]: did you'):
        hr.run(DICTIONARY | {"clients": {"cuont": 4}})
    with pytest.raises(hr.ScenarioError, match=r'"clients.cuont": did you mean "clients.count"'):
        hr.load(DICTIONARY | {"clients.cuont": 4})


def test_fields_are_read_by_their_paths() -> None:
    scenario = hr.load(SMALL)
    assert scenario["clients.count"] == 4
    assert scenario["layout.unit"] == "256 KiB"
    assert scenario["workload.0.files"] == scenario["workload.files"] == 5
    assert scenario["clients"]["groups"] == ["G1", "G2"]
    # A field without a value and without a default.
    assert scenario["run.stop.time"] is None
    more = scenario.with_({"clients.count": 8})
    assert (scenario["clients.count"], more["clients.count"]) == (4, 8)
    with pytest.raises(hr.ScenarioError) as raised:
        scenario["clients.cuont"]
    assert str(raised.value) == ('there is no field "clients.cuont": did you mean "clients.count"?')
    with pytest.raises(hr.ScenarioError, match="numbered from 0"):
        scenario["workload.1.files"]
    keys = scenario._ipython_key_completions_()
    assert all(scenario[key] is not None for key in keys) and "workload.0.files" in keys


def test_a_scenario_in_a_line_has_its_main_quantities() -> None:
    scenario = hr.load(SMALL)
    expected = "parallel system ideal, 4 clients, 2 servers; ior files=5 block=1 MiB transfer=1 MiB"
    assert repr(scenario) == f"<Scenario 'small': {expected}>"
    assert expected in scenario._repr_html_()


def test_scenarios_and_results_are_pickled_and_copied(small: Path) -> None:
    scenario = hr.load(small, {"clients.count": 3})
    result = hr.run(scenario, requests=True, playback=10, over_time=True)
    small.unlink()
    for again in (
        pickle.loads(pickle.dumps(scenario)),
        copy.copy(scenario),
        copy.deepcopy(scenario),
    ):
        assert again.toml == scenario.toml
        assert again.gives("clients.count") and not again.gives("clients.processes")
    for other in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert other.document == result.document
        assert other.summary.equals(result.summary) and other.series.equals(result.series)
        assert other.to_pandas("requests").equals(result.to_pandas("requests"))
        assert playback(other).equals(playback(result))
    studies: list[Any] = [
        hr.sweep(scenario, {"clients.count": [2, 3]}),
        hr.whatif(scenario, only=["layout.unit"], kinds=False),
        hr.optimise(scenario, {"clients.count": [2, 3]}, maximise="throughput"),
    ]
    for study in studies:
        assert pickle.loads(pickle.dumps(study)).document == study.document
        assert study.frame.height > 0 and study._repr_html_() and study.plot()


def test_processes_that_are_spawned_run_scenarios() -> None:
    scenarios = [hr.load(SMALL, {"run.seed": seed}) for seed in (1, 2)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        results = pool.map(hr.run, scenarios)
    assert [figures(one) for one in results] == [figures(hr.run(one)) for one in scenarios]


def test_dask_clients_and_clusters_run_scenarios_and_sweeps() -> None:
    scenario, vary = hr.load(SMALL), {"clients.count": [2, 3], "layout.unit": ["64 KiB", "1 MiB"]}
    expected = hr.sweep(scenario, vary)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for on in (client, cluster):
            sweep = hr.sweep(scenario, vary, on=on)
            assert sweep.frame.drop("wall_s").equals(expected.frame.drop("wall_s"))
        others = [scenario, scenario.with_({"clients.count": 2})]
        results = client.gather(client.map(hr.run, others))
        assert [figures(one) for one in results] == [figures(hr.run(one)) for one in others]
        # The client stays open.
        assert client.submit(int, "7").result(timeout=30) == 7


@pytest.mark.parametrize("on", ["dusk", 3, None])
def test_anything_else_is_no_engine(on: Any) -> None:
    with pytest.raises(
        ValueError, match="expected threads, dask, .* a Dask Client or LocalCluster"
    ):
        hr.sweep(SMALL, {"clients.count": [2]}, on=on)


VARY: dict[str, Any] = {
    "layout.unit": ["64 KiB", "1 MiB"],
    "network.latency": ["1 ms", "0.2 ms"],
    "network.bandwidth": ["1 Gbit/s", "125 MB/s"],
    "clients.count": [2, 3],
    "layout.first": ["random", "zero"],
}
SI: dict[str, set[float]] = {
    "layout.unit_bytes": {65536.0, 1048576.0},
    "network.latency_s": {0.001, 0.0002},
    "network.bandwidth_bytes_per_s": {125e6},
    "clients.count": {2, 3},
}


def test_fields_that_vary_are_columns_in_si_units() -> None:
    sweep = hr.sweep(SMALL, VARY)
    for table in (sweep.frame, sweep.points, sweep.summary):
        for name, amounts in SI.items():
            assert {*table[name]} == amounts
        assert not {"layout.first_bytes", "clients.count_bytes"} & {*table.columns}
        assert {*table["layout.unit"]} == {"64 KiB", "1 MiB"}
    trials = hr.optimise(SMALL, {"layout.unit": ["64 KiB", "1 MiB"]}, maximise="throughput").frame
    assert {*trials["layout.unit_bytes"]} == SI["layout.unit_bytes"]


def test_tables_are_given_to_pandas() -> None:
    sweep = hr.sweep(SMALL, {"layout.unit": ["64 KiB", "1 MiB"]}, replications=2)
    table = sweep.to_pandas()
    assert isinstance(table, pandas.DataFrame) and list(table.columns) == sweep.frame.columns
    assert table["layout.unit_bytes"].tolist() == [65536.0, 65536.0, 1048576.0, 1048576.0]
    assert table["throughput_bytes_per_s"].dtype == float
    assert len(sweep.to_pandas("points")) == 2
    assert len(hr.run(SMALL).to_pandas()) == hr.run(SMALL).summary.height


def test_tables_are_given_to_xarray() -> None:
    vary = {"layout.unit": ["64 KiB", "1 MiB"], "clients.count": [2, 3]}
    data = hr.sweep(SMALL, vary, replications=2).to_xarray()
    assert dict(data.sizes) == {"layout.unit_bytes": 2, "clients.count": 2, "replication": 2}
    assert data["layout.unit_bytes"].to_numpy().tolist() == [65536.0, 1048576.0]
    assert dict(hr.run(SMALL).to_xarray("breakdown").sizes) == {
        "index": hr.run(SMALL).breakdown.height
    }


CELL = f"""
import headrace as hr
text = '''{SMALL}'''
hr.run(text)
hr.sweep(text, {{"clients.count": "2..4"}}, sensitivity="sobol", samples=4)
hr.optimise(text, {{"layout.unit": "64 KiB..1 MiB"}}, maximise="throughput", trials=12)
hr.whatif(text, only=["layout.unit"])
"""


def test_a_notebook_shows_results_without_warnings() -> None:
    book: Any = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    book.cells.append(nbformat.v4.new_code_cell(CELL))  # type: ignore[no-untyped-call]
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    outputs = book.cells[0].outputs
    assert [one for one in outputs if one.output_type == "stream"] == []
    assert "<WhatIf of 'small'" in outputs[-1].data["text/plain"]


RUN = """
import headrace as hr
from headrace import progress_bar
progress_bar.PATIENCE_S = 0.0
hr.run(hr.load({text!r}, {{"workload.files": 20_000}}), progress={progress})
"""


@pytest.mark.parametrize("progress", [None, False])
def test_a_run_shows_a_bar_on_a_terminal(progress: bool | None) -> None:
    reader, terminal = pty.openpty()
    code = RUN.format(text=SMALL, progress=progress)
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=terminal,
        stdout=terminal,
        env=os.environ | {"TERM": "xterm"},
    ) as process:
        os.close(terminal)
        shown = b""
        # The end of the process is an error of the terminal.
        with contextlib.suppress(OSError), open(reader, "rb", buffering=0) as file:
            while part := file.read(4096):
                shown += part
    assert process.returncode == 0
    assert (b"requests" in shown) == (progress is None), shown


def test_commands_of_the_terminal_are_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    answer = hr.command.design.capacity(disks=12, capacity="4 TB", level="raid6")
    assert answer["kind"] == "design-figures" and answer["usable_capacity"] == 40e12
    assert "usable capacity" in answer._repr_html_()
    solution = hr.command.net.solve("scenarios/nets/machine-repair.toml", where=["running >= 1"])
    assert solution["kind"] == "net-solution"
    run = hr.command.run("scenarios/striped-read.toml", set={"workload.files": 2}, store=False)
    assert run["kind"] == "simulated" and run["throughput"]["read"] > 0
    assert hr.command.schema().startswith("{")
    with pytest.raises(ValueError, match='^capacity "4 furlong": expected a size'):
        hr.command.design.capacity(disks=12, capacity="4 furlong")
    with pytest.raises(TypeError, match=r"design\.capacity: .*'capcity': disks, capacity, level"):
        hr.command.design.capacity(disks=12, capcity="4 TB")
    with pytest.raises(AttributeError, match="headrace design has no command 'capcity': expected"):
        hr.command.design.capcity  # noqa: B018
    with pytest.raises(TypeError, match="is a group"):
        hr.command.design()
    # It would take the place of this process.
    assert not hasattr(hr.command.lab, "exec_") and not hasattr(hr.command.lab, "bench")


def test_a_benchmark_and_a_profile_are_functions(tmp_path: Path) -> None:
    jobs = hr.command.bench(tmp_path, time="0.1 s", file_size="1 MiB", store=False)
    assert jobs["kind"] == "jobs"
    profile = hr.command.profile(
        "sh", "-c", "true", output=tmp_path / "a.profile", report=False, advice=False
    )
    assert profile["kind"] == "profile"


@pytest.mark.parametrize("name", CALCULATIONS)
def test_parameters_of_functions_are_those_of_the_records(name: str) -> None:
    signature = inspect.signature(getattr(hr.command.design, name))
    for parameter in parameters(record(name)):
        word = parameter.option.lstrip("-").replace("-", "_")
        given = signature.parameters[f"{word}_" if keyword.iskeyword(word) else word]
        assert (given.default is given.empty) == parameter.is_required
        assert parameter.help in (getattr(hr.command.design, name).__doc__ or "")


def commands(group: Any) -> list[Any]:
    """Return the functions of a group and of those below it."""
    every = [getattr(group, name) for name in dir(group)]
    inner = [one for one in every if type(one) is type(group)]
    return [one for one in every if one not in inner] + [
        function for one in inner for function in commands(one)
    ]


def test_every_command_has_a_signature_and_help() -> None:
    functions = commands(hr.command)
    assert len(functions) > 60
    for function in functions:
        signature = inspect.signature(function)
        types = [signature.return_annotation] + [
            each.annotation for each in signature.parameters.values()
        ]
        assert signature.empty not in types and "\n\nParameters:" in function.__doc__


def test_documents_of_commands_are_dictionaries() -> None:
    assert msgspec.json.encode(hr.command.presets())


def test_answers_of_a_scenario_are_copies_and_paths_are_texts() -> None:
    scenario = hr.load("scenarios/io500-whatif.toml")
    scenario["layout"]["unit"] = "1 MiB"
    assert scenario["layout"]["unit"] == scenario["layout.unit"] != "1 MiB"
    assert "clients.count" in scenario
    assert "clients.cuont" not in scenario
    with pytest.raises(TypeError, match="the path of a field"):
        scenario[3]  # type: ignore[index]
    with pytest.raises(TypeError):
        list(scenario)  # type: ignore[call-overload]


def test_a_table_that_is_none_is_refused() -> None:
    result = hr.run("scenarios/striped-read.toml")
    for name in ("nope", "document"):
        with pytest.raises(ValueError, match=f"no table '{name}': expected .*series, .*summary"):
            result.to_pandas(name)
    sweep = hr.sweep(SMALL, {"clients.count": [2]})
    with pytest.raises(ValueError, match="no table 'nope': expected frame, points, summary$"):
        sweep.to_pandas("nope")


@pytest.mark.parametrize("name", ["pandas", "xarray"])
def test_a_missing_library_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    result = hr.run(SMALL)
    with pytest.raises(ValueError, match=rf"{name} is not .*: pip install 'headrace\[tables\]'"):
        getattr(result, f"to_{name}")()


@pytest.mark.parametrize("source", ["", "\n"])
def test_an_empty_text_is_no_scenario(source: str) -> None:
    with pytest.raises(hr.ScenarioError, match="expected a scenario: a path, .* an empty text"):
        hr.run(source)


WRONG: dict[str, Any] = {"clients.cuont": "many"}


def test_errors_name_the_parameter_and_not_the_option() -> None:
    place = r"sets\['clients.cuont'\] = 'many': there is no field"
    calls: list[Any] = [
        lambda: hr.load(SMALL, WRONG),
        lambda: hr.load(SMALL).with_(WRONG),
        lambda: hr.load(DICTIONARY | WRONG),
    ]
    for call in calls:
        with pytest.raises(hr.ScenarioError, match=f"^{place}") as raised:
            call()
        assert raised.value.message.startswith("there is no field")
    place = r"sets\['facility.powr'\] = '6 kW': there is no field"
    with pytest.raises(hr.ScenarioError, match=f"^{place}"):
        hr.design.solve(LAB, sets={"facility.powr": "6 kW"})
    with pytest.raises(hr.ScenarioError, match=r"^sets\['curency'\] = 'USD': "):
        hr.design.load_catalogue(sets={"curency": "USD"})
    studies: list[Any] = [
        lambda: hr.sweep(SMALL, {"clients.cuont": [1]}),
        lambda: hr.sweep(SMALL, {"network.latency": "1 ms..2 MB"}, sensitivity="sobol"),
        lambda: hr.sweep(SMALL, {"clients.count": "1..2:0"}),
        lambda: hr.optimise(SMALL, {"clients.cuont": [1]}, maximise="throughput"),
        lambda: hr.command.run("scenarios/striped-read.toml", set=WRONG),
        lambda: hr.command.run("scenarios/striped-read.toml", seed=-1),
    ]
    for study in studies:
        with pytest.raises(ValueError) as raised_by_study:
            study()
        assert "--" not in str(raised_by_study.value)


def test_the_answers_of_a_worksheet_are_a_dictionary() -> None:
    loaded = hr.design.load_worksheet(LAB, {"facility.power": "6 kW", "zone.0.copies": 2})
    assert loaded.worksheet.facility.power == 6000
    assert hr.design.load_catalogue(sets={"currency": "USD"}).catalogue.currency == "USD"


def test_commands_take_scenarios() -> None:
    scenario = hr.load("scenarios/striped-read.toml", {"workload.files": 2})
    answer = hr.command.run(scenario, store=False)
    assert figures_of(answer) == figures_of(hr.run(scenario).document)
    assert hr.command.sweep(scenario, vary="clients.count=2,3", store=False)["kind"] == "sweep"


def test_scenarios_are_equal_by_their_content() -> None:
    scenario = hr.load(SMALL)
    others = [hr.load(SMALL), hr.load(SMALL, {"clients.count": 4}), hr.load(scenario.toml)]
    assert {scenario, *others} == {scenario}
    assert scenario != hr.load(SMALL, {"clients.count": 5})
    assert scenario != scenario.toml


def test_a_text_is_one_value_and_a_dictionary_is_a_scenario(tmp_path: Path) -> None:
    scenario = hr.load("scenarios/striped-read.toml", "clients.count=2")  # type: ignore[arg-type]
    assert scenario["clients.count"] == 2
    answer = hr.command.run(tomllib.loads(Path("scenarios/striped-read.toml").read_text()))
    assert answer["kind"] == "simulated"
    with pytest.raises(ValueError) as wrong:
        hr.command.net.check(scenario)
    assert "/tmp" not in str(wrong.value)
    with pytest.raises(ValueError, match="there is no table 3: expected"):
        hr.run(scenario).to_pandas(3)  # type: ignore[arg-type]
