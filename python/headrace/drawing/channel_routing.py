"""Tracks for the vertical runs in the channel between two layers."""

from dataclasses import dataclass

STRAIGHT = 0.01
"""Below this difference of heights, in pixels, a line needs no turn."""
OVERLAP_COST = 100
"""Cost of two overlapping lines, in crossings."""


@dataclass(frozen=True)
class Run:
    """A line that enters a channel at one height (west) and leaves it at another (east)."""

    west: float
    east: float

    @property
    def is_straight(self) -> bool:
        return abs(self.west - self.east) < STRAIGHT

    def spans(self, height: float, margin: float = 0.0) -> bool:
        low, high = min(self.west, self.east), max(self.west, self.east)
        return low - margin < height < high + margin


def tracks(runs: list[Run], clearance: float) -> list[int | None]:
    """The track (0 is the westernmost) of each run; None where the line goes straight on.

    Runs that would touch get tracks of their own, in an order with few crossings. Where possible,
    no two lines lie on top of each other.
    """
    bent = [number for number, run in enumerate(runs) if not run.is_straight]
    cost = {(a, b): _cost(runs[a], runs[b], clearance) for a in bent for b in bent if a != b}
    order = _improve(sorted(bent, key=lambda n: _first_guess(runs[n], n)), cost)
    result: list[int | None] = [None] * len(runs)
    for at, number in enumerate(order):
        track = 0
        for earlier in order[:at]:
            taken = result[earlier]
            if taken is not None and (
                _touch(runs[earlier], runs[number], clearance)
                or cost[earlier, number] != cost[number, earlier]
            ):
                track = max(track, taken + 1)
        result[number] = track
    return result


def _first_guess(run: Run, number: int) -> tuple[float, int]:
    # Among lines going down the lowest turns first, among lines going up the highest.
    return (-run.west if run.east > run.west else run.west, number)


def _touch(a: Run, b: Run, clearance: float) -> bool:
    return (
        min(a.west, a.east) < max(b.west, b.east) + clearance
        and min(b.west, b.east) < max(a.west, a.east) + clearance
    )


def _cost(left: Run, right: Run, clearance: float) -> int:
    """Return the cost of turning `left` on a track west of that of `right`."""
    crossings = right.spans(left.east) + left.spans(right.west)
    return crossings + OVERLAP_COST * (abs(left.east - right.west) < clearance)


def _improve(order: list[int], cost: dict[tuple[int, int], int]) -> list[int]:
    """Move single runs to where the sum of the pairwise costs is least, until none gains."""
    for _ in range(6):
        moved = False
        for number in list(order):
            at = order.index(number)
            rest = order[:at] + order[at + 1 :]
            change = sum(cost[number, other] for other in rest)
            costs = [change]
            for other in rest:
                change += cost[other, number] - cost[number, other]
                costs.append(change)
            best = min(costs)
            if best < costs[at]:
                rest.insert(costs.index(best), number)
                order, moved = rest, True
        if not moved:
            break
    return order
