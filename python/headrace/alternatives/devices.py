"""Alternatives to devices and links: those of the catalogues, and arrays."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from headrace._core import Loaded
from headrace.alternatives.choices import Choice, Device
from headrace.alternatives.table import table

LINK_FIELDS = ("bandwidth", "mtu", "header", "framing")
"""Fields of a network that a link of the catalogue gives."""
SHORTEST = """
clients.count = 1
servers.count = 1
servers.device = {{ {device} }}
network = {{ latency = "0 s", {network} }}
layout.unit = "64 KiB"
[[workload]]
block = "1 MiB"
"""
SIMPLE_DEVICE = 'read_rate = "1 MB/s", write_rate = "1 MB/s"'
SIMPLE_NETWORK = 'bandwidth = "1 Gbit/s"'


def device_choices(device: Device) -> Iterator[Choice]:
    """Yield the devices of the catalogue, and arrays of the present device.

    All fields are given: one of the same name may mean something else of another kind.
    """
    path, now = device.path, device_text(device.document)
    is_array = device.document["kind"] == "raid"
    for kind, schema in device.kinds.items():
        models = schema["properties"].get("model", {}).get("enum", ())
        for model in models if not is_array else ():
            if model != device.document.get("model"):
                values = model_values(kind, model)
                text = f"{kind}, {values['capacity']}: {schema.get('description', '')}"
                yield Choice(path, now, model, text, {path: values}, is_kind=True)
    if is_array or "raid" not in device.kinds:
        return
    for array in table().array:
        name = f"RAID {array.level} of {array.disks}"
        values = {"kind": "raid", "level": array.level, "disks": array.disks}
        values["member"] = dict(device.document)
        text = device.kinds["raid"].get("description", "")
        yield Choice(path, now, name, text, {path: values}, is_kind=True)


def device_text(document: Mapping[str, Any]) -> str:
    """Return a device in a few words: its model, its array, or its kind and rate."""
    if document["kind"] == "raid":
        member = device_text(document["member"])
        return f"RAID {document['level']} of {document['disks']} {member}"
    if "model" in document:
        return str(document["model"])
    rate = next((document[name] for name in RATES if name in document), None)
    return f"{document['kind']}, {rate}" if rate else str(document["kind"])


def has_volatile_cache(device: Mapping[str, Any]) -> bool:
    """Return whether a device acknowledges writes that a loss of power destroys."""
    holds = device.get("write_cache", False) not in (False, "0 B")
    return holds and not device.get("power_loss_protection", False)


RATES = ("read_rate", "outer_rate", "interface_rate", "rate")


@cache
def model_values(kind: str, model: str) -> dict[str, Any]:
    """Return all fields of a device of the catalogue."""
    text = SHORTEST.format(device=f'kind = "{kind}", model = "{model}"', network=SIMPLE_NETWORK)
    return dict(_complete(text)["servers"]["device"])


@cache
def link_values(link: str) -> dict[str, Any]:
    """Return the fields of a network that a link of the catalogue gives."""
    text = SHORTEST.format(device=SIMPLE_DEVICE, network=f'link = "{link}"')
    network = _complete(text)["network"]
    return {name: network[name] for name in LINK_FIELDS}


def _complete(text: str) -> dict[str, Any]:
    return tomllib.loads(Loaded.from_text(text, "catalogue.toml", []).toml)
