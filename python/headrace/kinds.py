"""The kinds of results: one table, which the catalogue, imports, pages and tables read.

A kind names its modules as text, so that a command loads those of its own kind alone.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from headrace._core import VERSION
from headrace.fields import convert, partial, to_document

if TYPE_CHECKING:
    from headrace.render.blocks import View
    from headrace.render.style import NotebookFigure as Figure

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of result."""

    name: str
    """Field `kind` of its documents."""
    record: str = ""
    """Type of its documents, as `module:class`; empty if a document is read as it is."""
    view: str = ""
    """Function that returns the blocks of a record, as `module:function`; without it and `page`, a
    page shows the fields."""
    read: str = ""
    """Function that returns the record of a document, where its fields are not enough."""
    page: str = ""
    """Function that draws it in a page, where blocks are not enough."""
    frames: tuple[str, ...] = ()
    """Its tables in the store that its view takes."""
    row: str = ""
    """Type of the rows of its table `rows`, as `module:class`."""
    fields: tuple[str, ...] = ()
    """Fields of its documents, by which those without a field `kind` are recognised."""
    former: str = ""
    """Its name in earlier versions."""


_PAGE = "headrace.web.result_views"
_STORED = (
    Kind(
        "simulated",
        "headrace.simulate.report:Report",
        "headrace.views.simulated:view",
        page=f"{_PAGE}.simulation:show",
        fields=("simulated_seconds", "stations"),
    ),
    Kind(
        "measured",
        "headrace.measure.report:Report",
        "headrace.views.measured:view",
        frames=("series", "counters", "histograms"),
    ),
    Kind(
        "load-sweep",
        "headrace.measure.sweep_steps:SweepDocument",
        "headrace.views.load_sweep:view",
        former="ladder",
    ),
    Kind(
        "study",
        "headrace.measure.micro.summary:StudyReport",
        "headrace.views.study:view",
        "headrace.measure.micro.summary:StudyReport.read",
        row="headrace.measure.micro.study:Row",
    ),
    Kind("tuning", "headrace.measure.tuning.tune:TuningReport", "headrace.views.tuning:view"),
    Kind("network", "headrace.measure.network:NetworkReport", "headrace.views.network:view"),
    Kind(
        "network-matrix",
        "headrace.measure.network_matrix:NetworkMatrix",
        "headrace.views.network_matrix:view",
    ),
    Kind(
        "jobs",
        "headrace.measure.jobs.report:JobsReport",
        "headrace.views.jobs:view",
        frames=("histograms",),
    ),
    Kind("baseline", "headrace.profile.baseline.baseline:Baseline", "headrace.views.baseline:view"),
    Kind(
        "profile",
        "headrace.profile.document:Profile",
        "headrace.views.profile:view",
        page=f"{_PAGE}.profile:show",
        fields=("phases", "samples", "hosts"),
    ),
    Kind(
        "sweep",
        "headrace.sweeps.result:SweepReport",
        "headrace.views.sweep:view",
        "headrace.sweeps.result:Sweep.from_document",
    ),
)
"""Kinds that the store keeps. A simulation, and the benchmarks: one load; a load sweep over rates,
clients or client hosts; a study of points over a range; protocol operations; messages between
hosts; jobs (the quick start or a fio job file); what a directory can do; profiles of applications;
simulations of a scenario at many points."""
_OTHERS = (
    Kind(
        "whatif",
        "headrace.sweeps.whatif_report:WhatIfReport",
        "headrace.views.whatif:view",
        fields=("baseline", "changes", "factor"),
    ),
    Kind(
        "comparison",
        view="headrace.views.comparison:view",
        fields=("groups", "figures", "differences"),
    ),
    Kind("optimum", view="headrace.views.optimum:view"),
    Kind("calibration", view="headrace.views.calibration:view"),
    Kind("validation", view="headrace.views.validation:view"),
    Kind("doctor", "headrace.doctor.diagnosis:Diagnosis", "headrace.views.doctor:view"),
    Kind("testbed", "headrace.lab.status:TestbedStatus", "headrace.views.testbed:view"),
    Kind(
        "net-run",
        view="headrace.views.net:view",
        read="headrace.net.results:NetResult.from_document",
        former="net run",
    ),
    Kind("net-check", former="net check"),
    Kind(
        "net-solution",
        view="headrace.views.net_solution:view",
        read="headrace.net.results:NetSolution.from_document",
    ),
    Kind(
        "trace-info",
        "headrace.profile.characteristics:TraceReport",
        "headrace.views.trace_info:view",
        fields=("summary", "skipped"),
    ),
    Kind(
        "trace-findings",
        "headrace.profile.trace_findings:TraceFindings",
        "headrace.views.trace_findings:view",
        fields=("trace", "findings"),
    ),
    Kind("trace-edit", fields=("target", "records")),
    Kind("trace-workload", fields=("toml", "assumptions")),
    Kind(
        "trace-mix",
        "headrace.profile.workload_fit:FittedMix",
        "headrace.views.fitted_mix:view",
        fields=("shares", "goodness", "not_reproduced"),
    ),
    Kind("solution", page=f"{_PAGE}.solution:show", fields=("front", "chosen", "worksheet_text")),
    Kind("design-check", fields=("worksheet", "answers")),
    Kind("design-figures", fields=("figures", "assumptions")),
    Kind("recommendation", fields=("choices", "unknown")),
    Kind("reliability", fields=("mttdl_seconds", "horizons")),
    Kind("smart", fields=("disks", "horizon")),
    Kind(
        "lifetimes",
        "headrace.design.lifetimes.fits:Lifetimes",
        "headrace.views.lifetimes:view",
        fields=("fits", "bad_rows"),
    ),
    Kind(
        "spares",
        "headrace.design.spares:SpareAdvice",
        "headrace.views.spares:view",
        fields=("pooling", "per_pool"),
    ),
    Kind("bench-clean", fields=("removed", "left")),
    Kind("store-check", fields=("removed", "damaged")),
)
KINDS = {kind.name: kind for kind in (*_STORED, *_OTHERS)}
"""Kinds by their names."""
STORED = tuple(kind.name for kind in _STORED)
"""Names of the kinds that the store keeps."""
SIMULATED = STORED[0]
UNSHOWN = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions of views for documents with missing or malformed fields."""


def current_kind(name: str) -> str:
    """Return the present name of a kind, which an earlier version may have named otherwise."""
    return next((kind.name for kind in KINDS.values() if name in (kind.name, kind.former)), name)


def kind_of(document: Document) -> str:
    """Return the name of a document's kind; empty if it is unknown."""
    if "kind" in document:
        return current_kind(str(document["kind"]))
    known = (kind for kind in KINDS.values() if kind.fields)
    return next((kind.name for kind in known if document.keys() >= {*kind.fields}), "")


def with_kind(name: str, fields: Any) -> dict[str, Any]:
    """Return the document of a result: its `kind`, the `version` of Headrace, and its fields.

    Parameters:
        name: Name of the kind.
        fields: A mapping or a record. Its own `version` has precedence.
    """
    document = fields if isinstance(fields, Mapping) else to_document(fields)
    return {"kind": KINDS[name].name, "version": VERSION, **document}


def record_type(name: str) -> type[msgspec.Struct] | None:
    """Return the type of the documents of a kind; None if they are read as they are."""
    kind = KINDS.get(name)
    return pkgutil.resolve_name(kind.record) if kind and kind.record else None


def read(name: str, document: Document) -> Any:
    """Return the record of a document of a kind.

    Fields that it lacks are `msgspec.UNSET`, and any may be null: views may not need them. Raises
    WrongField if a field has another type.
    """
    kind, record = KINDS[name], record_type(name)
    if kind.read:
        return pkgutil.resolve_name(kind.read)(document)
    return document if record is None else convert(dict(document), partial(record, or_null=True))


def blocks(name: str, result: Any, **options: Any) -> "View":
    """Return what a result of a kind shows.

    Parameters:
        name: Name of the kind.
        result: Its document, or its record.
        options: Further arguments of its view, such as tables of the result that its document
            lacks, by their names in the store.

    Raises one of `UNSHOWN` if a document lacks fields, as one of another version may.
    """
    record = read(name, result) if isinstance(result, Mapping) else result
    view: View = pkgutil.resolve_name(KINDS[name].view)(record, **options)
    return view


def picture(name: str, result: Any, figure: str, **options: Any) -> "Figure":
    """Return a picture of a result, as `blocks` takes it. Raises ValueError if there is none."""
    from headrace.render.pictures import drawn_one

    return drawn_one(blocks(name, result, **options), figure)


def html(name: str, result: Any) -> str:
    """Return the notes and tables of a result as HTML; `blocks` explains the parameters."""
    from headrace.render.html import as_html

    return as_html(blocks(name, result))
