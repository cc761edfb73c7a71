"""Worksheets and catalogues as files: the declared fields, their types in Python, origins."""

import json
import re
import tomllib
import types
import typing
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from conftest import ROOT
from headrace import _core
from headrace._core import ScenarioError
from headrace.design.catalogue import Catalogue, DiskModel, NodeModel, ShelfModel
from headrace.design.catalogue_file import (
    load_catalogue,
    read_catalogue,
    shipped_catalogues,
)
from headrace.design.document_file import Kind, toml_path
from headrace.design.enumeration import families
from headrace.design.forms import example, examples, form
from headrace.design.options import Options
from headrace.design.worksheet import CapacityNeed, Worksheet
from headrace.design.worksheet_file import load_worksheet, read_worksheet

HOUR_S = 3600.0
LEAST = '[capacity]\nusable = "20 TB"\n'
TYPES: dict[Kind, Any] = {"worksheet": Worksheet, "catalogue": Catalogue}


def filled_in(kind: Kind) -> str:
    """The form with all answers given, as its examples have them."""
    lines = []
    for line in form(kind).splitlines():
        if line.startswith("#outside"):
            lines.append('outside = ["cameras"]')
        elif line.startswith("#profile") or re.match("# |#$|$", line):
            lines.append(line)
        else:
            lines.append(line.removeprefix("#"))
    return "\n".join(lines)


def check_fields(value: object, declared: Any, path: str) -> None:
    """Compare the fields of a JSON value with those of the type that reads it."""
    if typing.get_origin(declared) in (typing.Union, types.UnionType):
        (declared,) = (it for it in typing.get_args(declared) if it is not type(None))
    if typing.get_origin(declared) is tuple:
        assert isinstance(value, list), path
        for it in value:
            check_fields(it, typing.get_args(declared)[0], f"{path}[]")
    elif isinstance(declared, type) and issubclass(declared, msgspec.Struct):
        assert isinstance(value, dict), path
        assert set(value) == set(declared.__struct_fields__), path
        for field, hint in typing.get_type_hints(declared).items():
            check_fields(value[field], hint, f"{path}.{field}")


@pytest.mark.parametrize("kind", ["worksheet", "catalogue"])
def test_declared_fields_are_those_of_the_types(kind: Kind) -> None:
    document = _core.Document.from_text(kind, filled_in(kind), "form.toml", [])
    values = json.loads(document.json)
    # An optional text without an answer is not there.
    check_fields(values, TYPES[kind], kind)
    msgspec.json.decode(document.json, type=TYPES[kind], strict=True)


def test_declared_defaults_are_those_of_the_types() -> None:
    expected = Worksheet(name="worksheet", capacity=CapacityNeed(usable=20e12))
    assert read_worksheet(LEAST).worksheet == expected
    read = read_catalogue(form("catalogue")).catalogue
    for group in (read.disks, read.nodes, read.networks):
        for it in group:
            given = {
                name: getattr(it, name)
                for name in it.__struct_fields__
                if name in required(type(it)) or getattr(it, name) is None
            }
            assert type(it)(**given) == it
    assert Catalogue("", "", "", (), (), ()).price_decline == read.price_decline
    assert Catalogue("", "", "", (), (), ()).maintenance_share == read.maintenance_share


def required(struct: type[msgspec.Struct]) -> set[str]:
    """The fields without defaults."""
    return {it.encode_name for it in msgspec.structs.fields(struct) if it.required}


@pytest.mark.parametrize("kind", ["worksheet", "catalogue"])
def test_the_form_and_its_schema_agree(kind: Kind) -> None:
    schema = json.loads(_core.document_schema(kind))
    jsonschema.Draft202012Validator.check_schema(schema)
    for text in (form(kind), filled_in(kind)):
        jsonschema.validate(tomllib.loads(text), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({}, schema)


def test_a_worksheet_loads_to_itself() -> None:
    loaded = read_worksheet(filled_in("worksheet"))
    again = read_worksheet(loaded.text)
    assert again.worksheet == loaded.worksheet
    assert again.text == loaded.text
    assert all(it.is_given for it in again.answers if it.value is not None)


def test_values_know_their_origins(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(f'{LEAST}[[zone]]\nname = "A"\nshare = 0.5\n')
    loaded = load_worksheet(file, ["facility.power=6 kW"])
    assert loaded.worksheet.name == "my"
    assert loaded.worksheet.facility.power == 6000.0
    assert loaded.origin("zones.0.share") == f"{file}:5:9"
    assert loaded.origin("facility.power") == "--set facility.power=6 kW"
    assert loaded.origin("capacity.years").startswith("default: Hindman 2011")
    assert loaded.origin("budget.initial").startswith("not given: no design is discarded")
    error = loaded.error("zones.0.share", "it is too small")
    assert isinstance(error, ScenarioError)
    assert str(error) == f"{file}:5:9: zone.0.share = 0.5: it is too small"
    assert (error.line, error.column) == (5, 9)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("zones.1.share", "zone.1.share"),
        ("applications.0.clients", "application.0.clients"),
        ("flows.2.source", "flow.2.from"),
        ("data.0.data_class", "data.0.class"),
        ("background.wishes.0.text", "background.wish.0.text"),
        ("facility.power", "facility.power"),
    ],
)
def test_paths_of_types_are_paths_of_files(path: str, expected: str) -> None:
    assert toml_path(path) == expected


@pytest.mark.parametrize("name", shipped_catalogues())
def test_shipped_catalogues_are_priced_and_sourced(name: str) -> None:
    catalogue = load_catalogue(name).catalogue
    entries: list[DiskModel | NodeModel | ShelfModel] = [
        *catalogue.disks,
        *catalogue.nodes,
        *catalogue.shelves,
    ]
    for it in entries:
        assert it.price is not None and it.price > 0
        assert "declared" in it.source
    for network in catalogue.networks:
        assert network.adapter_price is not None and network.port_price is not None
    for disk in catalogue.disks:
        assert any(it.takes(disk) for it in catalogue.nodes)


def test_the_catalogue_of_hindman_has_his_table_3_2() -> None:
    by_class = {it.disk_class: it for it in load_catalogue("hindman-2011").catalogue.disks}
    table = {
        "desktop": (750_000, 1e-14),
        "nearline": (1_200_000, 1e-15),
        "enterprise": (1_600_000, 1e-16),
    }
    found = {name: (it.mttf / HOUR_S, it.bit_error_rate) for name, it in by_class.items()}
    assert found == table


def test_slots_take_disks_of_their_form_factors() -> None:
    catalogue = load_catalogue().catalogue
    nodes = {it.name: it for it in catalogue.nodes}
    disks = {it.name: it for it in catalogue.disks}
    assert nodes["2U12"].takes(disks["nearline 16 TB"])
    assert not nodes["2U24"].takes(disks["nearline 16 TB"])
    assert not nodes["4U36"].takes(disks["NVMe 7.68 TB"])
    assert nodes["1U10 NVMe"].takes(disks["NVMe 7.68 TB"])


def test_designs_put_disks_into_slots_that_take_them() -> None:
    options = Options(file_systems=("lustre",), arrays=("raid6",))
    listed = list(families(load_catalogue().catalogue, options))
    assert {one.disk.form_factor for one in listed} == {"3.5-inch", "2.5-inch", "nvme"}
    for one in listed:
        assert one.housing.node.takes(one.disk)
        assert one.housing.shelf is None or one.housing.shelf.takes(one.disk)


@pytest.mark.parametrize("name", examples())
def test_examples_are_those_of_the_repository(name: str) -> None:
    worksheet = read_worksheet(example(name)).worksheet
    assert worksheet.zones and worksheet.applications
    packaged = ROOT / "python" / "headrace" / "design" / "worksheets" / f"{name}.toml"
    assert (ROOT / "scenarios" / "design" / packaged.name).resolve() == packaged


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "none.toml"
    with pytest.raises(ScenarioError, match="cannot read the worksheet: No such file"):
        load_worksheet(file)
    with pytest.raises(ScenarioError, match="cannot read the catalogue: No such file"):
        load_catalogue(file)
