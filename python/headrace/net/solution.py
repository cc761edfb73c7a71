"""Numerical solutions of nets with exponential times: Markov chains in continuous time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags, hstack, identity, vstack
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import splu
from scipy.special import gammaln

from headrace.net.results import Figures

MOST_JUMPS = 100_000_000
"""Most jumps of the chain in a transient solution."""
MOST_WORK = 1e11
"""Most additions of these jumps, which take some minutes."""
TAIL = 1e-16
"""Probability of the numbers of jumps that a transient solution leaves out."""
DOUBT = 1e-11
"""Most that the rounding of rates may change a probability."""
MOST_DENSE = 2_000
"""Most markings of a chain whose states are eliminated one by one."""
MOST_SPREAD = 1e6
"""Most that rates of such a chain may differ for a decomposition."""
MOST_SQUARED = 400
"""Most markings of a chain whose matrix of jumps is squared."""
MOST_LOOPS = 1e5
"""Most firings without time in a row, on average: rounding changes more than `DOUBT` beyond."""

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


class Chain:
    """A chain without its vanishing states."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        """Eliminate the vanishing states.

        Raises:
            ValueError: Firings can go on for ever while time stands still.
        """
        vanishing = columns["vanishing"]
        self.tangible = np.flatnonzero(~vanishing)
        hidden = np.flatnonzero(vanishing)
        self._columns = columns
        size = len(vanishing)
        source, target, value = (columns[key] for key in ("source", "target", "value"))
        _check_time_passes(vanishing, source, target)
        arcs = csr_matrix((value, (source, target)), shape=(size, size))
        self._to_hidden = arcs[self.tangible][:, hidden]
        first = np.zeros(size)
        first[0] = 1.0
        self.initial: Vector = first[self.tangible]
        rates = arcs[self.tangible][:, self.tangible]
        self._hidden: Any = None  # Its types lack the argument `trans`.
        if len(hidden):
            among = identity(len(hidden), format="csc") - arcs[hidden][:, hidden].tocsc()
            # Flows are row vectors.
            try:
                self._hidden = splu(among.T.tocsc())
                loops = float(self._hidden.solve(np.ones(len(hidden)), "T").max())
            except RuntimeError:
                loops = np.inf
            if not loops <= MOST_LOOPS:
                raise ValueError(
                    "transitions without time fire too often in a row before time passes:"
                    f" {loops:.3g} times on average, at most {MOST_LOOPS:g} can be computed;"
                    " choose weights that differ less"
                )
            out = arcs[hidden][:, self.tangible]
            ways = self._visits_of(self._to_hidden) @ out
            rates = rates + ways
            self.initial = self.initial + out.T @ self._hidden.solve(first[hidden])
        rates = rates.tocsr()
        rates.setdiag(0.0)
        rates.eliminate_zeros()
        self.rates = rates
        self.exits: Vector = np.asarray(rates.sum(axis=1), float).ravel()

    def _visits_of(self, flows: Any) -> Any:
        """Return how often each vanishing state is visited, for flows into them."""
        rows = []
        assert self._hidden is not None
        # Rows in blocks: a dense matrix of all would take too much memory.
        for start in range(0, flows.shape[0], 64):
            block = flows[start : start + 64].toarray()
            rows.append(csr_matrix(self._hidden.solve(block.T).T))
        return vstack(rows).tocsr()

    def steady(self) -> Vector:
        """Return the probabilities of the states after a long time, from the first marking on."""
        number, component = connected_components(self.rates, connection="strong")
        source, target = self.rates.nonzero()
        leaves = np.zeros(number, bool)
        leaves[component[source[component[source] != component[target]]]] = True
        final = ~leaves[component]
        share = self._absorbed(final)
        result = np.zeros(len(component))
        reached = np.bincount(component, weights=share, minlength=number)
        sizes = np.bincount(component, minlength=number)
        single = final & (sizes[component] == 1)
        result[single] = share[single]
        for one in np.flatnonzero(~leaves & (sizes > 1)):
            members = np.flatnonzero(component == one)
            result[members] = reached[one] * self._balance(members)
        return result

    def _absorbed(self, final: Any) -> Vector:
        """Return the probability of the state by which a terminal component is entered."""
        share = np.where(final, self.initial, 0.0)
        passing = np.flatnonzero(~final)
        if len(passing) and self.initial[passing].any():
            first, out = self.initial[passing], self.rates[passing]
            among = out[:, passing]
            stay, doubt = _inflow_balance(self.exits[passing], among, first)
            if not (out.T @ doubt)[final].sum() <= DOUBT:
                # An end is left for the first marking, so that it counts as often as it is reached.
                ends = csr_matrix((out @ final.astype(float))[:, None])
                again = csr_matrix(np.append(first, 0.0)[None, :])
                stay = _eliminate(vstack([hstack([among, ends]), again]).tocsr())
                stay = stay[:-1] / (stay[:-1] @ (out @ final.astype(float))) * first.sum()
            share = share + np.where(final, out.T @ stay, 0.0)
        return share

    def _balance(self, members: Any) -> Vector:
        """Return the steady state of a component that nothing leaves."""
        rates = self.rates[members][:, members]
        exits = np.asarray(rates.sum(axis=1)).ravel()
        most = float(exits.max()) * 1.01
        guess = np.full(len(members), 1.0 / len(members))
        for _ in range(200):
            guess = guess + (rates.T @ guess - exits * guess) / most
        # All others in proportion to a likely state, so that none overflows.
        likely = int(guess.argmax())
        others = np.delete(np.arange(len(members)), likely)
        inflow = rates[likely].toarray().ravel()[others]
        weights = np.ones(len(members))
        weights[others], doubt = _inflow_balance(exits[others], rates[others][:, others], inflow)
        if not doubt.sum() <= DOUBT * weights.sum():
            return _eliminate(rates)
        balance: Vector = weights / weights.sum()
        return balance

    def at(self, times: Sequence[float]) -> Iterator[Vector]:
        """Yield the probabilities of the states at times, in their order (uniformisation).

        Raises:
            ValueError: The chain makes too many jumps until then.
        """
        now, state = 0.0, self.initial
        rate = float(self.exits.max(initial=0.0)) * 1.01
        step = self.rates.T.tocsr()
        for time in times:
            jumps = rate * (time - now)
            if jumps > len(state) > 0 and len(state) <= MOST_SQUARED:
                now, state = time, state @ self._jumps(jumps, rate)
                yield state
                continue
            if jumps > MOST_JUMPS:
                raise ValueError(
                    f"at = {time:g}: {jumps:.3g} jumps until then, at most {MOST_JUMPS:g} can be"
                    " computed; ask for an earlier time or the steady state"
                )
            width = 9.0 * np.sqrt(jumps) + 40.0
            numbers = np.arange(max(0, int(jumps - width)), int(jumps + width) + 1)
            logs = numbers * np.log(jumps) - gammaln(numbers + 1.0) - jumps if jumps else 0.0
            weights = np.exp(logs) if jumps else np.where(numbers == 0, 1.0, 0.0)
            weights = weights / weights.sum()
            total, current = np.zeros_like(state), state
            # Each jump also has a fixed cost.
            most = MOST_WORK / (step.nnz + 10 * len(state) + 10_000)
            for number in range(int(numbers[-1]) + 1):
                if number > most:
                    raise ValueError(
                        f"at = {time:g}: {jumps:.3g} jumps of {len(state)} markings until then, of"
                        f" which at most {most:.3g} can be computed; ask for an earlier time or the"
                        " steady state"
                    )
                if number >= numbers[0]:
                    weight = weights[number - numbers[0]]
                    total = total + weight * current
                following = current + (step @ current - self.exits * current) / (rate or 1.0)
                if np.abs(following - current).sum() < TAIL:
                    # It does not change any more.
                    total = total + weights[max(0, number + 1 - numbers[0]) :].sum() * following
                    break
                current = following
            now, state = time, total
            yield total

    def _jumps(self, jumps: float, rate: float) -> Any:
        """Return the probabilities of ways from each state to each, after jumps on average."""
        jump = self.rates.toarray() / rate
        np.fill_diagonal(jump, 1.0 - jump.sum(axis=1))
        squares = int(np.ceil(np.log2(jumps)))
        weight = np.exp(-jumps / 2.0**squares)
        term = np.identity(len(jump))
        total = weight * term
        for number in range(1, 30):
            weight *= jumps / 2.0**squares / number
            term = term @ jump
            total += weight * term
        for _ in range(squares):
            total = total @ total
            # The rest of a row stays: without this, rounding doubles each time.
            np.fill_diagonal(total, 0.0)
            np.fill_diagonal(total, np.maximum(0.0, 1.0 - total.sum(axis=1)))
        return total

    def figures(
        self,
        state: Vector,
        nodes: Sequence[str],
        transitions: Sequence[str],
        conditions: Sequence[str],
    ) -> Figures:
        """Return the figures of probabilities of states."""
        columns, size = self._columns, len(self._columns["vanishing"])
        weights = np.zeros(size)
        weights[self.tangible] = state
        if self._hidden is not None:
            flow = self._to_hidden.T @ state
            weights[columns["vanishing"]] = self._hidden.solve(flow)
        firings = np.bincount(
            columns["transition"],
            weights=weights[columns["source"]] * columns["value"],
            minlength=len(transitions),
        )
        of_states = {
            key: state @ columns[key].reshape(size, -1)[self.tangible].astype(float)
            for key in ("tokens", "busy", "holds")
        }
        servers = columns["servers"]
        return {
            "nodes": [
                {
                    "path": path,
                    "mean_inside": float(inside),
                    "utilisation": float(busy / number) if number else None,
                }
                for path, inside, busy, number in zip(
                    nodes, of_states["tokens"], of_states["busy"], servers, strict=True
                )
            ],
            "transitions": [
                {"path": path, "throughput": float(rate)}
                for path, rate in zip(transitions, firings, strict=True)
            ],
            "probabilities": [
                {"condition": text, "probability": float(holds)}
                for text, holds in zip(conditions, of_states["holds"], strict=False)
            ],
        }


def _inflow_balance(exits: Vector, rates: Any, inflow: Vector) -> tuple[Vector, Vector]:
    """Return the mean numbers in states with inflow, and how much rounding may change them."""
    system = (diags(exits) - rates).T.tocsc()
    size = len(exits)
    if size < MOST_DENSE and exits.max(initial=0.0) > MOST_SPREAD * rates.data.min(initial=np.inf):
        return np.zeros(size), np.full(size, np.inf)
    try:
        solved = splu(system)
    except RuntimeError:
        # It is singular, as small rates are lost in sums with large ones.
        return np.zeros(size), np.full(size, np.inf)
    parts = solved.solve(inflow)
    parts += solved.solve(inflow - system @ parts)
    # The inverse has no negative element, so this is a bound for all roundings of the exits.
    doubt = solved.solve(exits * np.abs(parts)) * np.finfo(float).eps
    if min(parts.min(), doubt.min()) < 0.0:
        doubt = np.full(size, np.inf)
    return parts, doubt


def _eliminate(rates: Any) -> Vector:
    """Return the steady state of an irreducible chain (Grassmann, Taksar and Heyman 1985).

    Nothing is subtracted, so each probability is accurate whatever the rates.

    Raises:
        ValueError: The chain is too large for this.
    """
    size = rates.shape[0]
    if size > MOST_DENSE:
        raise ValueError(
            f"the rates of {size} markings differ too much for an accurate solution: with such"
            f" rates at most {MOST_DENSE} can be solved; let fast transitions take no time"
        )
    flows = rates.toarray()
    np.fill_diagonal(flows, 0.0)
    for last in range(size - 1, 0, -1):
        flows[:last, last] /= flows[last, :last].sum()
        flows[:last, :last] += np.outer(flows[:last, last], flows[last, :last])
    weights = np.ones(size)
    for state in range(1, size):
        weights[state] = weights[:state] @ flows[:state, state]
        weights[: state + 1] /= max(1.0, weights[state])
    balance: Vector = weights / weights.sum()
    return balance


def _check_time_passes(vanishing: Any, source: Any, target: Any) -> None:
    """Check that every vanishing state can lead to one that takes time.

    Raises:
        ValueError: It cannot.
    """
    size = len(vanishing)
    ends = np.flatnonzero(~vanishing)
    backwards = csr_matrix(
        (
            np.ones(len(source) + len(ends)),
            (np.append(target, np.full(len(ends), size)), np.append(source, ends)),
        ),
        shape=(size + 1, size + 1),
    )
    reached = breadth_first_order(backwards, size, return_predecessors=False)
    if len(reached) <= size:
        raise ValueError(
            "transitions fire for ever while time stands still; headrace net run names them"
        )
