"""Choices for the zones of a worksheet and for the system, with their reasons."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from headrace.design.catalogue import Catalogue
from headrace.design.evaluation import Choice, Reason
from headrace.design.recommendation.facts import LEVELS, Site, network_class
from headrace.design.recommendation.rule_table import (
    HEAVIEST,
    Aspect,
    Rule,
    RuleTable,
    filled,
    shipped_rules,
)
from headrace.design.worksheet import Worksheet

CATALOGUE_RULE = "catalogue"
"""Identifier of the reason that a catalogue lacks a value."""


@dataclass(frozen=True)
class _Vote:
    """The weight that a rule adds to the score of a value."""

    value: str
    weight: float
    reason: Reason


def recommend(
    worksheet: Worksheet, catalogue: Catalogue, rules: RuleTable | None = None
) -> tuple[Choice, ...]:
    """Return the choices for each zone, and for the whole system, by the table of rules.

    A value is recommended if the weights of the rules for it exceed those against it. Without
    zones, all choices are for the system.

    Args:
        worksheet: The requirements.
        catalogue: What can be bought; classes of disks and networks that it lacks are rejected.
        rules: Table of rules; by default that of Headrace.

    Examples:
        >>> worksheet = hr.design.load_worksheet("scenarios/design/lab.toml").worksheet
        >>> choices = hr.design.recommend(worksheet, hr.design.load_catalogue().catalogue)
        >>> choices[0].aspect, choices[0].values
        ('file-system', ('glusterfs', 'nfs'))
    """
    table = rules or shipped_rules()
    zones = [Site(worksheet, catalogue, it) for it in worksheet.zones]
    system = Site(worksheet, catalogue, None)
    found = [
        choice
        for site in zones
        for choice in _choices(table, [it for it in table.aspects if it.of_zones], [site])
    ]
    shared = [it for it in table.aspects if it.scope == "both"] if zones else []
    alone = [it for it in table.aspects if it.scope == "system" or not zones]
    return (*found, *_choices(table, shared, zones), *_choices(table, alone, [system]))


def _choices(
    table: RuleTable, aspects: Iterable[Aspect], sites: Sequence[Site]
) -> Iterator[Choice]:
    """Yield the choices for one zone, for several together, or for the system."""
    best: dict[str, str] = {}
    zone = sites[0].zone if len(sites) == 1 else None
    for aspect in aspects:
        if any(best.get(name) != value for name, value in aspect.needs.items()):
            continue
        choice = _choice(aspect, table.of(aspect.name), sites, zone.name if zone else "")
        best[aspect.name] = choice.values[0] if choice.values else ""
        yield choice


def _choice(aspect: Aspect, rules: Sequence[Rule], sites: Sequence[Site], zone: str) -> Choice:
    votes = [vote for site in sites for vote in _votes(aspect, rules, site, len(sites) > 1)]
    scores = _scores(aspect, votes)
    values = _recommended(aspect, scores)
    reasons = [it.reason for it in _by_weight(votes) if it.value in values]
    rejected = [
        (it.value, it.reason)
        for it in _by_weight(votes)
        if it.value not in values and it.weight < 0
    ]
    unsure = list(_unsure(aspect, rules, sites, votes, values))
    if not values and not aspect.several:
        unsure.append(f"{aspect.title}: every value is excluded")
    elif values and not any(scores.get(it, 0.0) > 0 for it in values):
        unsure.append(f"{aspect.title}: no rule favours a value; {values[0]} has the least against")
    return Choice(
        zone=zone,
        aspect=aspect.name,
        values=values,
        reasons=_distinct(reasons),
        rejected=tuple(dict.fromkeys(rejected)),
        unsure=tuple(dict.fromkeys(unsure)),
    )


def _votes(aspect: Aspect, rules: Iterable[Rule], site: Site, shared: bool) -> Iterator[_Vote]:
    """Yield what each rule that applies adds; in a shared choice, zones count by throughput."""
    for rule in rules:
        if rule.holds(site.value):
            yield from _votes_of(rule, site, shared)
    yield from _missing_from_catalogue(aspect, site)


def _votes_of(rule: Rule, site: Site, shared: bool) -> Iterator[_Vote]:
    text = filled(rule.text, site)
    factor = 1.0
    if shared and site.zone is not None:
        text = f"zone {site.zone.name}: {text}"
        if rule.weight < HEAVIEST:
            factor = 1.0 + LEVELS.index(site.zone.throughput)
    for sign, values in ((1.0, rule.recommend), (-1.0, rule.reject)):
        for template in values:
            value, weight = filled(template, site), sign * factor * rule.weight
            yield _Vote(value, weight, Reason(rule.id, text, rule.source, value, weight))


def _missing_from_catalogue(aspect: Aspect, site: Site) -> Iterator[_Vote]:
    """Yield a vote against each class of disks or networks that cannot be bought."""
    sold: set[str]
    if aspect.name == "disk-class":
        sold = {it.disk_class for it in site.catalogue.disks}
    elif aspect.name == "network":
        sold = {network_class(it) for it in site.catalogue.networks}
    else:
        return
    for value in aspect.values:
        if sold and value not in sold:
            reason = Reason(
                CATALOGUE_RULE,
                f"the catalogue {site.catalogue.name} has none.",
                "catalogue",
                value,
                -HEAVIEST,
            )
            yield _Vote(value, -HEAVIEST, reason)


def _scores(aspect: Aspect, votes: Iterable[_Vote]) -> dict[str, float]:
    """Return the score of each value that is known or demanded, in the order of the aspect."""
    weights: dict[str, list[float]] = {it: [] for it in aspect.values}
    for vote in votes:
        weights.setdefault(vote.value, []).append(vote.weight)
    return {value: math.fsum(it) for value, it in weights.items()}


def _recommended(aspect: Aspect, scores: dict[str, float]) -> tuple[str, ...]:
    """Return the values with a score above 0, the best first; a demanded one stands alone.

    If there is none, the value with the highest score that is not excluded.
    """
    order = sorted(scores, key=lambda it: -scores[it])
    demanded = [it for it in order if scores[it] >= HEAVIEST / 2]
    good = demanded or [it for it in order if scores[it] > 0]
    if good or aspect.several:
        return tuple(good)
    return tuple(it for it in order[:1] if scores[it] > -HEAVIEST / 2)


def _by_weight(votes: Iterable[_Vote]) -> list[_Vote]:
    return sorted(votes, key=lambda it: -abs(it.weight))


def _distinct(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    return tuple(dict.fromkeys(reasons))


def _unsure(
    aspect: Aspect,
    rules: Iterable[Rule],
    sites: Sequence[Site],
    votes: Sequence[_Vote],
    values: tuple[str, ...],
) -> Iterator[str]:
    """Yield the unknown answers that could change the choice, with the value it could become."""
    changes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for rule in rules:
        for site in sites:
            fields = rule.unknown(site) if rule.holds(site.value) is None else ()
            if not fields:
                continue
            more = [*votes, *_votes_of(rule, site, len(sites) > 1)]
            other = _recommended(aspect, _scores(aspect, more))
            if set(other) != set(values) if aspect.several else other[:1] != values[:1]:
                result = _change(aspect, values, other)
                names = changes[" and ".join(fields)][result]
                if rule.id not in names:
                    names.append(rule.id)
    for fields_text, results in changes.items():
        for result, names in results.items():
            verb = "are" if " and " in fields_text else "is"
            yield f"{fields_text} {verb} unknown: {aspect.title} {result} ({', '.join(names)})"


def _change(aspect: Aspect, values: tuple[str, ...], other: tuple[str, ...]) -> str:
    """Return how a choice could change, in words."""
    if not aspect.several:
        return f"could become {other[0]}" if other else "could have no value"
    more = [it for it in other if it not in values]
    less = [it for it in values if it not in other]
    gain = f"could also have {', '.join(more)}" if more else ""
    loss = f"could lose {', '.join(less)}" if less else ""
    return " and ".join(filter(None, (gain, loss)))
