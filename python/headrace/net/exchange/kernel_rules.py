"""Rules of the kernel that nets of other tools need not follow."""

from typing import Any

from headrace.net.exchange.structure import Node, Transition, structure_of


def obey_kernel_rules(document: dict[str, Any]) -> list[str]:
    """Change a document so that the kernel accepts it; return what was left out.

    A place that no transition takes from becomes a sink. A place that is always empty is left
    out, and with it each transition that takes from it: it never fires.
    """
    net = structure_of(document)
    transitions = list(net.transitions())
    nodes = list(net.nodes())
    dead = set()
    while True:
        filled = {node for node in nodes if node.table.get("initial")}
        filled |= {node for each in transitions if each not in dead for node, _ in each.puts}
        newly_dead = {
            each
            for each in transitions
            if each not in dead and any(node not in filled for node in _needed(each))
        }
        if not newly_dead:
            break
        dead |= newly_dead
    living = [one for one in transitions if one not in dead]
    drained: set[Node] = {node for one in living for node, _ in one.takes}
    drained |= {node for one in living for node, _, _ in one.holds}
    for transition in dead:
        del transition.page.table["transitions"][transition.name]
    empty = [node for node in nodes if node not in filled]
    for one in living:
        # What is always empty neither inhibits nor is emptied.
        for node, key, entry in one.holds:
            if node not in filled:
                one.table[key].remove(entry)
    for node in empty:
        del node.page.table["places"][node.name]
    for node in nodes:
        if node in filled and node not in drained:
            node.table["sink"] = True  # type: ignore[index]
    notes = []
    if dead:
        notes.append(f"{len(dead)} transitions that can never fire")
    if empty:
        notes.append(f"{len(empty)} places that are always empty")
    return notes


def _needed(transition: Transition) -> list[Node]:
    """Return the nodes that must have tokens."""
    reads = [node for node, key, _ in transition.holds if key == "read"]
    return [node for node, _ in transition.takes] + reads
