"""Figures of a design by name, with the figures that their inputs come from."""

from collections.abc import Iterable, Iterator

import msgspec

from headrace.design.catalogue_file import read_catalogue
from headrace.design.evaluation import ApplicationPerformance, Evaluation, Solution
from headrace.design.figure import Figure, Input, by_key
from headrace.quantities import number, percent_text, quantity
from headrace.report.design_report.bill import Line, bill
from headrace.report.figure_tables import arithmetic, value_text
from headrace.views.solution import label

GROUPS = ("capacity", "reliability", "facility", "cost")
UNKNOWN = "\N{EN DASH}"


class InputView(msgspec.Struct, frozen=True):
    """An input of a figure's formula."""

    name: str
    text: str
    """Value with its unit."""
    source: str
    figure: str | None = None
    """Key of the figure that the input is; None if it is given."""


class FigureView(msgspec.Struct, frozen=True):
    """A figure with its arithmetic, as texts."""

    key: str
    title: str
    text: str
    """Value with its unit, and its standard error if it has one."""
    formula: str
    numbers: str
    """The formula with the inputs put in; empty if it has none."""
    inputs: tuple[InputView, ...]
    source: str
    note: str


class FigureBook:
    """Figures whose inputs may be other figures of the book."""

    def __init__(self, figures: Iterable[Figure], currency: str = "") -> None:
        self._currency = currency
        self._figures: dict[str, Figure] = {}
        for figure in figures:
            self._figures.setdefault(figure.key, figure)
        self._keys = {one.title: key for key, one in reversed(self._figures.items())}

    def __contains__(self, key: str) -> bool:
        return key in self._figures

    def __iter__(self) -> Iterator[FigureView]:
        return (self.view(key) for key in self._figures)

    def text(self, key: str) -> str:
        """Return the value of a figure with its unit; a dash if there is no such figure."""
        figure = self._figures.get(key)
        return UNKNOWN if figure is None else value_text(figure, self._currency)

    def view(self, key: str) -> FigureView:
        """Return a figure with its arithmetic. Raises KeyError."""
        figure = self._figures[key]
        numbers = arithmetic(figure)
        return FigureView(
            key=key,
            title=figure.title,
            text=value_text(figure, self._currency),
            formula=figure.formula,
            numbers="" if numbers == figure.formula else numbers,
            inputs=tuple(
                InputView(one.name, one.text, one.source, self._key_of(one, key))
                for one in figure.inputs
            ),
            source=figure.source,
            note=figure.note,
        )

    def _key_of(self, one: Input, key: str) -> str | None:
        """Return the figure that an input is: its source, or the one of its name and value."""
        known = self._keys.get(one.source)
        if known is None:
            named = self._keys.get(one.name)
            same = named is not None and self.text(named).split(" (")[0] == one.text
            known = named if same else None
        return known if known != key else None


class DesignView:
    """A design of a solution with its figures."""

    def __init__(self, solution: Solution, place: int) -> None:
        self.evaluation = designs_of(solution)[place]
        self.place = place
        catalogue = read_catalogue(solution.catalogue_text).catalogue
        evaluation = self.evaluation
        costs = by_key(evaluation.cost)
        self.bill: list[Line] = bill(evaluation.design, catalogue, costs)
        """Bill of materials."""
        # Its own order: the bill has figures that the groups have, too.
        groups = [figure for name in GROUPS for figure in getattr(evaluation, name)]
        self.book = FigureBook(
            [*groups, *(one for line in self.bill for one in line.figures)], catalogue.currency
        )

    def group(self, name: str) -> list[FigureView]:
        """Return the figures of a group: capacity, reliability, facility or cost."""
        return [self.book.view(figure.key) for figure in getattr(self.evaluation, name)]

    def applications(self) -> list[tuple[str, ...]]:
        """Return a row for each application, as in `APPLICATIONS`."""
        return [_application(part) for part in self.evaluation.performance]


APPLICATIONS = (
    "application",
    "wanted",
    "simulated",
    "margin",
    "calls/s",
    "mean latency",
    "limiting resource",
)
"""Headings of the rows of applications."""


class FrontPoint(msgspec.Struct, frozen=True):
    """A design as a point of the Pareto front."""

    place: int
    label: str
    name: str
    cost: float | None
    """Cost over the years of the worksheet, or of the purchase, in the catalogue's currency."""
    throughput: float | None
    """Bytes a second of all applications together."""
    usable: float | None
    loss_probability: float | None
    power: float | None
    feasible: bool
    chosen: bool


def designs_of(solution: Solution) -> tuple[Evaluation, ...]:
    """Return the designs of the front, or the nearest misses if no design is feasible."""
    return solution.front or solution.nearest


def front_points(solution: Solution) -> list[FrontPoint]:
    """Return the designs as points: cost, throughput, loss probability."""
    designs = []
    for place, design in enumerate(designs_of(solution)):
        values = {one.key: one.value for name in GROUPS for one in getattr(design, name)}
        total = sum(one.throughput for one in design.performance)
        designs.append(
            FrontPoint(
                place=place,
                label=label(place),
                name=design.design.name,
                cost=values.get("total-cost", values.get("purchase")),
                throughput=total if design.performance else None,
                usable=values.get("usable-capacity"),
                loss_probability=values.get("loss-probability"),
                power=values.get("power"),
                feasible=design.is_feasible,
                chosen=bool(solution.front) and place == solution.chosen,
            )
        )
    return designs


def _application(part: ApplicationPerformance) -> tuple[str, ...]:
    targets, margins = [], []
    if part.wanted_throughput:
        targets.append(quantity(part.wanted_throughput, "B/s"))
        margins.append(percent_text(part.throughput / part.wanted_throughput - 1, sign=True))
    if part.wanted_operations:
        targets.append(f"{number(part.wanted_operations)} calls/s")
        margins.append(percent_text(part.operations / part.wanted_operations - 1, sign=True))
    if part.wanted_latency:
        targets.append(f"at most {quantity(part.wanted_latency, 's')}")
        margin = part.wanted_latency / part.latency - 1 if part.latency else 0.0
        margins.append(percent_text(margin, sign=True))
    error = ""
    if part.throughput_error is not None:
        error = f" \N{PLUS-MINUS SIGN} {quantity(part.throughput_error, 'B/s')}"
    return (
        part.application,
        ", ".join(targets) or UNKNOWN,
        quantity(part.throughput, "B/s") + error,
        ", ".join(margins) or UNKNOWN,
        number(part.operations),
        quantity(part.latency, "s"),
        part.limiting_resource.removeprefix("system/"),
    )
