"""Reliability of a designed system: arrays in nodes, and copies or an erasure code over nodes.

Approximations, which the figures' notes repeat:

- An array is a component. It is lost at the constant rate 1 / MTTDL of the array alone, without
  read errors, and is filled again from the other nodes. A set of copies is lost if the arrays of
  all its nodes are lost within that time.
- A stripe that a read error loses in an array is repaired from another node. It is lost only while
  all other copies are being filled again: then it counts as the read error of that rebuild.
- Failed disks are replaced and rebuilt in exponential times of the right mean, so that a Markov
  chain gives the answer at once.
"""

import math
from collections.abc import Mapping, Sequence

from headrace.design.catalogue import DiskClass
from headrace.design.figure import LEAST, MOST, SUM, Figure, Input, Rule, combine
from headrace.design.inventory import switches_and_links
from headrace.design.reliability.engine import ask_again
from headrace.design.reliability.laws import found_probability, read_error_probability
from headrace.design.reliability.question import (
    Array,
    Declustered,
    Disk,
    Exponential,
    Lifetime,
    Mirrors,
    Question,
    Redundancy,
    Repair,
)
from headrace.design.reliability.rebuild_load import LEVELS, rebuild_share
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet
from headrace.quantities import (
    DAY,
    HOUR,
    LONGEST,
    YEAR,
    duration,
    hours_text,
    number,
    numbered,
    probability_text,
    size,
)

LOAD_PER_DISK = 2
"""Random reads of 1 MiB that clients keep outstanding for each disk during a rebuild (declared)."""
REBUILD_SHARE = 0.3
"""Part of the disks' rate that a rebuild gets beside the load where the array model has no such
array (declared: about its result for RAID-6)."""
TURNS: dict[DiskClass, float] = {"desktop": 7200.0, "nearline": 7200.0, "enterprise": 10_000.0}
"""Turns a minute of hard disks: Hindman 2011, table 3.2."""
NEXT_DAY = DAY
"""Time to a new disk with a next-day agreement (Hindman 2011, chapter 2, names 4 h and the next
day), and where the answer is missing (declared)."""
DELIVERY = 7 * DAY
"""Time to a new disk without an agreement: order and delivery (declared)."""
NODE_MTTF = 50_000 * HOUR
"""Mean time between failures of a node that leave its disks intact, if the catalogue has none
(declared: one failure in 5.7 years)."""
SWITCH_MTTF = 300_000 * HOUR
"""Mean time between failures of a switch (declared: the least that makers state for data
centres)."""
MOST_ERROR_RATE = 1e-6
"""Read errors a bit at most, of an array that loses stripes."""
MONTH = YEAR / 12
BLOCK = float(64 << 20)
"""Bytes of a block of HDFS: Hindman 2011, section 4.7."""
SOURCE = "headrace design reliability: crates/survival, Markov chain"


def system_reliability(
    design: Design, worksheet: Worksheet, *, is_idle: bool = False
) -> tuple[Figure, ...]:
    """Return the reliability of a design.

    Args:
        design: The design.
        worksheet: Its requirements: `recovery.loss_years` is the horizon, `budget.vendor_agreement`
            gives the time to a new disk.
        is_idle: Rebuild without any load, which takes no simulation: a bound.

    Returns:
        Figures with the keys `loss-probability`, `mttdl`, `nomdl`, `read-error-in-rebuild`,
        `rebuild-time`, `disk-failures`, `node-failures-survived`, `availability`, `downtime`.
    """
    if design.pools:
        pools = [
            (one.zone_names, system_reliability(one, worksheet, is_idle=is_idle))
            for one in design.each_pool
        ]
        return combine(pools, OF_POOLS)
    return _System(design, worksheet, is_idle).figures()


def _any(probabilities: Sequence[float]) -> float:
    """Return the probability that one of several independent events happens."""
    return -math.expm1(math.fsum(math.log1p(-min(each, 1 - 1e-16)) for each in probabilities))


def _first_of(means: Sequence[float]) -> float:
    """Return the mean time to the first of several events at constant rates."""
    rates = math.fsum(1 / each for each in means)
    return 1 / rates if rates else math.inf


OF_POOLS: Mapping[str, Rule] = {
    "loss-probability": ("1 - product of (1 - that of each zone's servers)", _any),
    "mttdl": ("1 / sum of (1 / that of each zone's servers)", _first_of),
    "nomdl": MOST,
    "read-error-in-rebuild": MOST,
    "rebuild-time": MOST,
    "disk-failures": SUM,
    "node-failures-survived": LEAST,
    "availability": ("product over the zones' servers", math.prod),
    "downtime": ("sum over the zones' servers: at most that of all", math.fsum),
}
"""How the reliability of several pools makes that of the design: none may fail."""


class _System:
    def __init__(self, design: Design, worksheet: Worksheet, is_idle: bool) -> None:
        self.design = design
        self.disk = design.disk
        self.disk_source = f"catalogue: {design.disk.name}"
        self.array = design.array
        self.horizon = worksheet.recovery.loss_years * YEAR
        self.years = numbered(worksheet.recovery.loss_years, "year")
        agreement = worksheet.budget.vendor_agreement
        self.replacement = DELIVERY if agreement is False else NEXT_DAY
        self.replacement_source = (
            "declared: order and delivery without a vendor's agreement"
            if agreement is False
            else "budget.vendor_agreement: the next day (Hindman 2011, chapter 2)"
            if agreement
            else "declared: the next day; budget.vendor_agreement is unknown"
        )
        self.mttf = self.disk.observed_mttf
        self.full_rate = min(self.disk.read_rate, self.disk.write_rate)
        self.share, self.share_source = (1.0, "no load") if is_idle else self.share_beside_load()
        self.rate = self.full_rate * self.share
        self.components = design.nodes * design.arrays_per_node
        self.survived = design.code.parity if design.code is not None else design.copies - 1
        self.layered = self.survived > 0
        self.reaches = design.fail_over_nodes and (
            0 < design.shared_shelves <= design.shelves_per_node
        )

    def figures(self) -> tuple[Figure, ...]:
        question = self.system_question() if self.layered else self.array_question(self.components)
        answer = ask_again(question)
        first = answer.horizons[0]
        note = (
            "Arrays count as components that are lost at a constant rate of their own; stripes that"
            " one loses by read errors are repaired from other nodes."
            if self.layered
            else ""
        )
        inputs, formula = self.inputs(), self.formula()
        # Not limited: it belongs to the loss probability.
        mttdl = answer.mttdl_seconds or math.inf
        return (
            Figure(
                key="loss-probability",
                title=f"probability of a data loss in {self.years}",
                value=first.loss_probability,
                unit="1",
                formula=f"1 - P(no loss in {self.years}) of {formula}",
                inputs=inputs,
                source=SOURCE,
                standard_error=first.standard_error or None,
                note=note,
            ),
            Figure(
                key="mttdl",
                title="mean time to data loss",
                value=mttdl,
                unit="s",
                formula=f"mean time to the first loss of {formula}",
                inputs=inputs,
                source=SOURCE,
                note="A mean over many such systems, far beyond their service life: use it to"
                " compare only.",
            ),
            Figure(
                key="nomdl",
                title=f"part of the data lost in {self.years}",
                value=first.nomdl_high if first.nomdl is None else first.nomdl,
                unit="1",
                formula="expected bytes lost / usable bytes",
                inputs=inputs,
                source="Greenan, Plank and Wylie 2010, NOMDL",
                standard_error=first.nomdl_standard_error or None,
                note=note
                if first.nomdl is not None
                else f"Too few losses were simulated: a bound with 95 % confidence. {note}".strip(),
            ),
            self.read_error(),
            self.rebuild_figure(),
            self.disk_failures(),
            Figure(
                key="node-failures-survived",
                title="nodes that may be lost without a loss of data",
                value=float(self.survived),
                unit="1",
                formula="copies - 1" if self.design.code is None else "parity of the code",
                inputs=()
                if self.design.code is not None
                else (Input("copies", f"{self.design.copies}", "design"),),
                source="definition",
            ),
            *self.availability(),
        )

    def array_question(self, groups: int, *, read_errors: bool = True) -> Question:
        """Ask about arrays that are alike, of which none may be lost."""
        rate = self.disk.bit_error_rate if read_errors else 0.0
        return Question(
            redundancy=self.redundancy(),
            groups=groups,
            disk=Disk(self.disk.capacity, rate),
            lifetime=Lifetime(Exponential(self.mttf)),
            repair=Repair(rebuild=Exponential(self.repair_time())),
            horizons=(self.horizon,),
            method="markov",
        )

    def redundancy(self) -> Redundancy:
        array = self.array
        match array.kind:
            case "single" | "raid0":
                return Array(array.disks, 0)
            case "raid10":
                return Mirrors(array.disks, 1 + array.parity // max(array.data, 1))
            case "draid":
                return Declustered(
                    array.disks, array.data, array.parity, chunk_bytes=float(array.chunk)
                )
        stripe = float(array.chunk * array.data)
        return Array(array.disks, array.parity, stripe_bytes=stripe)

    def share_beside_load(self) -> tuple[float, str]:
        """Part of a disk's rate that a rebuild gets beside the load, and its source."""
        kind, disks = self.array.kind, self.array.disks
        if kind not in LEVELS or self.array.parity == 0:
            return REBUILD_SHARE, "declared: the load takes the rest"
        rpm = TURNS.get(self.disk.disk_class, 0.0)
        load = LOAD_PER_DISK * disks
        share = rebuild_share(kind, disks, self.full_rate, self.disk.access_time, rpm, load)
        source = f"array model, beside {load} random reads of 1 MiB (the load is declared)"
        return (share, source) if share > 0 else (REBUILD_SHARE, "declared")

    def rebuild_time(self) -> float:
        """Seconds of a rebuild beside the load."""
        capacity, array = self.disk.capacity, self.array
        if array.kind == "draid":
            # Each lost chunk is computed from `data` others and written to one of all disks.
            return capacity * (array.data + 1) / ((array.disks - 1) * self.rate)
        return capacity / self.rate

    def repair_time(self) -> float:
        """Mean seconds from a disk's failure until its data is safe again."""
        return (1 - self.spare_found()) * self.replacement + self.rebuild_time()

    def spare_found(self) -> float:
        """Probability that a failed disk finds a hot spare of its node."""
        if self.array.kind == "draid":
            # Its spare space is on all disks.
            return 1.0
        disks = self.array.disks * self.design.arrays_per_node
        return found_probability(self.design.spares_per_node, disks * self.replacement / self.mttf)

    def system_question(self) -> Question:
        """Ask about copies or an erasure code over arrays, which are components."""
        whole, any_loss = (
            min(ask_again(self.array_question(1, read_errors=it)).mttdl_seconds or LONGEST, LONGEST)
            for it in (False, True)
        )
        redundancy, groups = self.over_nodes()
        # An array without redundancy has the read errors of its disks. One with redundancy loses
        # stripes at a rate of its own, spread over what is read of it.
        error_rate = self.disk.bit_error_rate
        if self.array.parity:
            stripes_lost = max(1 / any_loss - 1 / whole, 0.0) * self.refill_time()
            error_rate = min(stripes_lost / (8 * self.array_bytes()), MOST_ERROR_RATE)
        return Question(
            redundancy=redundancy,
            groups=groups,
            disk=Disk(self.array_bytes(), error_rate),
            lifetime=Lifetime(Exponential(whole)),
            repair=Repair(rebuild=Exponential(self.refill_time())),
            horizons=(self.horizon,),
            method="markov",
        )

    def over_nodes(self) -> tuple[Redundancy, int]:
        """The redundancy over nodes, of arrays, and the number of its groups."""
        design = self.design
        if design.code is not None:
            width = design.code.data + design.code.parity
            return Array(width, design.code.parity), max(1, math.ceil(self.components / width))
        if self.placed_by_block():
            placed = Declustered(
                self.components, data=1, parity=design.copies - 1, chunk_bytes=BLOCK
            )
            return placed, 1
        sets = max(1, math.ceil(self.components / design.copies))
        return Array(design.copies, design.copies - 1), sets

    def array_bytes(self) -> float:
        """Usable bytes of an array."""
        return self.array.disks * self.disk.capacity * self.array.efficiency

    def refill_time(self) -> float:
        """Seconds until an array that lost its data is replaced and filled from other nodes.

        HDFS copies the blocks to all other nodes at once, and waits for no replacement.
        """
        into_array = self.disk.write_rate * self.array.disks * self.array.efficiency
        rate = min(self.design.network.bandwidth, into_array) * REBUILD_SHARE
        if self.placed_by_block():
            return self.array_bytes() / (rate * max(1, self.design.nodes - 1))
        return self.replacement + self.array_bytes() / rate

    def placed_by_block(self) -> bool:
        """Return whether the copies of each block lie on nodes chosen for it, as in HDFS."""
        design = self.design
        return (
            design.code is None and design.file_system == "hdfs" and self.components > design.copies
        )

    def formula(self) -> str:
        arrays = f"{self.components:,} {self.array.kind} arrays of {self.array.disks}"
        if not self.layered:
            return f"{arrays}, of which none may lose data"
        over = (
            f"code {self.design.code.data}+{self.design.code.parity}"
            if self.design.code is not None
            else f"{self.design.copies} copies"
        )
        return f"{over} over {arrays}"

    def inputs(self) -> tuple[Input, ...]:
        inputs = [
            Input("MTTF of a disk", hours_text(self.mttf), self.disk.failure_source),
            self.bit_error_rate(),
            Input("mean time to repair", duration(self.repair_time()), "rebuild-time"),
            Input("time to a new disk", duration(self.replacement), self.replacement_source),
            Input(
                "hot spares of a node",
                f"{self.design.spares_per_node}, found by {probability_text(self.spare_found())}",
                "design; headrace design spares",
            ),
        ]
        if self.layered:
            inputs.append(
                Input(
                    "time to fill an array again",
                    duration(self.refill_time()),
                    f"array's usable bytes / ({REBUILD_SHARE:g} x the slower of network and"
                    " array) + time to a new disk",
                )
            )
        return tuple(inputs)

    def bit_error_rate(self) -> Input:
        return Input("bit error rate", f"{self.disk.bit_error_rate:g}", self.disk_source)

    def read_error(self) -> Figure:
        array = self.array
        disks = 1 if array.kind in ("raid1", "raid10") else array.data
        rebuilds = array.parity > 0
        read = disks * self.disk.capacity if rebuilds else 0.0
        return Figure(
            key="read-error-in-rebuild",
            title="probability of a read error in a rebuild without redundancy left",
            value=read_error_probability(read, self.disk.bit_error_rate),
            unit="1",
            formula="1 - (1 - bit error rate)^(8 x disks read x capacity)",
            inputs=(
                Input("disks read", f"{disks if rebuilds else 0}", f"{array.kind}"),
                Input("capacity", size(self.disk.capacity), self.disk_source),
                self.bit_error_rate(),
            ),
            source="Hindman 2011, section 3.3.1",
            note="" if rebuilds else "An array without redundancy is not rebuilt.",
        )

    def rebuild_figure(self) -> Figure:
        declustered = self.array.kind == "draid"
        formula = "capacity / (share x rate)"
        if declustered:
            formula = "capacity x (data + 1) / ((disks - 1) x share x rate)"
        return Figure(
            key="rebuild-time",
            title="time to rebuild a disk beside the load",
            value=self.rebuild_time(),
            unit="s",
            formula=formula,
            inputs=(
                Input("capacity", size(self.disk.capacity), self.disk_source),
                Input("rate", f"{size(self.full_rate)}/s", self.disk_source),
                Input("share", f"{self.share:.3g}", self.share_source),
            ),
            source="definition",
        )

    def disk_failures(self) -> Figure:
        disks = self.components * self.array.disks
        return Figure(
            key="disk-failures",
            title="disk failures a year",
            value=disks * YEAR / self.mttf,
            unit="1",
            formula="disks x 8760 h / MTTF",
            inputs=(
                Input("disks", f"{disks:,}", "design"),
                Input("MTTF", hours_text(self.mttf), self.disk.failure_source),
            ),
            source="definition",
            note=f"{number(disks * YEAR / self.disk.mttf)} by the maker's MTTF of"
            f" {hours_text(self.disk.mttf)}",
        )

    def availability(self) -> tuple[Figure, Figure]:
        design = self.design
        mttf, source = design.node.mttf, f"catalogue: {design.node.name}"
        if mttf is None:
            mttf, source = NODE_MTTF, "declared: the catalogue has no MTTF of the node"
        up = mttf / (mttf + self.replacement)
        data = self.data_available(up)
        metadata = 1 - (1 - up) ** design.metadata_nodes if design.metadata_nodes else 1.0
        unreached = ""
        if design.fail_over_nodes and not self.reaches:
            unreached = " A fail-over server cannot reach disks inside the data servers."
        switch = SWITCH_MTTF / (SWITCH_MTTF + self.replacement)
        switches, _ = switches_and_links(design)
        network = (1 - (1 - switch) ** design.paths) ** math.ceil(switches / design.paths)
        value = data * metadata * network
        inputs = (
            Input("MTTF of a node", hours_text(mttf), source),
            Input("time to repair a node", duration(self.replacement), self.replacement_source),
            Input("data nodes", f"{design.nodes}", "design"),
            Input("metadata nodes", f"{design.metadata_nodes}", "design: one of them must work"),
            Input("MTTF of a switch", hours_text(SWITCH_MTTF), "declared: the least of its class"),
            Input("switches", f"{switches}", "design"),
            Input("adapters of a server", f"{design.paths}", "design: one of them must work"),
        )
        return (
            Figure(
                key="availability",
                title="share of time in which all data can be reached",
                value=value,
                unit="1",
                formula="P(each group of nodes has enough of them up) x P(a metadata node is up)"
                " x P(each server reaches a switch), each being up for MTTF / (MTTF + repair)",
                inputs=inputs,
                source="definition; nodes fail independently",
                note="Switches are in it, and the quorum that prevents split brain. Adapters,"
                " cables, power and planned downtime are not." + unreached,
            ),
            Figure(
                key="downtime",
                title="unscheduled downtime a month",
                value=(1 - value) * MONTH,
                unit="s",
                formula="(1 - availability) x 730 h",
                inputs=(Input("availability", number(value), "availability"),),
                source="definition",
            ),
        )

    def data_available(self, up: float) -> float:
        """Share of time in which no file misses too many of its nodes."""
        design, down = self.design, 1 - up
        if design.code is not None:
            width = design.code.data + design.code.parity
            groups = max(1, math.ceil(design.nodes / width))
            return _at_most(design.code.parity, width, down) ** groups
        if design.file_system == "hdfs":
            return _at_most(design.copies - 1, max(design.nodes, design.copies), down)
        if design.copies == 1 and self.reaches:
            spare = design.fail_over_nodes
            return _at_most(spare, design.nodes + spare, down)
        sets = max(1, math.ceil(design.nodes / design.copies))
        if design.file_system == "glusterfs" and design.copies > 1:
            # Most of the copies, and of an arbiter beside an even number, must vote.
            voters = design.copies + 1 - design.copies % 2
            return _at_most((voters - 1) // 2, voters, down) ** sets
        return float((1 - down**design.copies) ** sets)


def _at_most(most: int, n: int, probability: float) -> float:
    """Return the probability that at most `most` of `n` are down."""
    return math.fsum(
        math.comb(n, count) * probability**count * (1 - probability) ** (n - count)
        for count in range(most + 1)
    )
