"""Structures of nets, as the kernel describes them, to draw and test with."""

from typing import Any

Structure = dict[str, Any]


class NetBuilder:
    """Numbers nodes, stores and transitions over a whole net."""

    def __init__(self) -> None:
        self.nodes = 0
        self.stores = 0
        self.transitions = 0

    def page(self, name: str, parent: Structure | None = None, copies: int = 1) -> Structure:
        path = name if parent is None else f"{parent['path']}/{name}"
        page = {
            "name": name,
            "path": path,
            "copies": copies,
            "nodes": [],
            "stores": [],
            "transitions": [],
            "pages": [],
        }
        if parent is not None:
            parent["pages"].append(page)
        return page

    def node(
        self,
        page: Structure,
        name: str,
        kind: str = "place",
        discipline: str = "",
        sink: bool = False,
        servers: int | None = None,
    ) -> int:
        self.nodes += 1
        page["nodes"].append(
            {
                "id": self.nodes - 1,
                "name": name,
                "kind": kind,
                "discipline": discipline,
                "colour": "Job",
                "note": "",
                "copies": page["copies"],
                "servers": servers,
                "sink": sink,
            }
        )
        return self.nodes - 1

    def station(self, page: Structure, name: str, discipline: str) -> int:
        return self.node(page, name, "station", discipline)

    def store(self, page: Structure, name: str) -> int:
        self.stores += 1
        page["stores"].append({"id": self.stores - 1, "name": name})
        return self.stores - 1

    def transition(
        self,
        page: Structure,
        name: str,
        inputs: list[Any],
        outputs: list[Any],
        stores: tuple[int, ...] = (),
        signals: tuple[int, ...] = (),
        guarded: bool = False,
        priority: int = 0,
    ) -> None:
        self.transitions += 1
        page["transitions"].append(
            {
                "id": self.transitions - 1,
                "name": name,
                "priority": priority,
                "guarded": guarded,
                "inputs": [
                    {"node": i, "weight": 1, "by": None} if isinstance(i, int) else i
                    for i in inputs
                ],
                "outputs": [output(o) if isinstance(o, int) else o for o in outputs],
                "stores": list(stores),
                "signals": list(signals),
            }
        )

    def connect(self, page: Structure, source: int, target: int) -> None:
        self.transition(page, f"pass {source} to {target}", [source], [target])


def output(node: int, how: str = "one", delayed: bool = False, copy: bool = False) -> Structure:
    return {"node": node, "how": how, "delayed": delayed, "selects_copy": copy}


def single_queue() -> Structure:
    net = NetBuilder()
    main = net.page("main")
    source = net.station(main, "source", "exp(0.9/ms), infinite")
    queue = net.station(main, "server", "fcfs(1)")
    done = net.node(main, "done", sink=True)
    net.transition(main, "arrive", [source], [source, queue])
    net.transition(main, "leave", [queue], [done])
    return {"page": main}


def empty_page() -> Structure:
    return {"page": NetBuilder().page("nothing here")}


def nested_pages() -> Structure:
    net = NetBuilder()
    outer = net.page("outer")
    middle = net.page("middle", outer, copies=3)
    inner = net.page("inner", middle, copies=2)
    start, end = net.node(outer, "start"), net.node(outer, "end", "bag")
    work = net.station(inner, "work", "ps")
    seen = net.store(outer, "seen")
    net.transition(outer, "enter", [start], [output(work, copy=True)])
    net.transition(inner, "finish", [work], [output(end, delayed=True)], stores=(seen,))
    net.transition(middle, "again", [end], [start], guarded=True)
    return {"page": outer}


def parallel_file_system() -> Structure:
    net = NetBuilder()
    main = net.page("main")
    client = net.page("client", main, copies=64)
    network = net.page("network", main)
    server = net.page("server", main, copies=4)
    scheduler, memory = net.page("scheduler", server), net.page("memory", server)
    device = net.page("device", server)

    think = net.station(client, "think", "infinite, exp(5 ms)")
    issued = net.node(client, "issued")
    split_jobs = net.node(client, "jobs", "bag")
    waiting = net.node(client, "waiting", "bag")
    answers = net.node(client, "answers")
    layouts = net.store(client, "layouts")
    up = net.station(network, "client card, out", "ps, 1 Gbit/s")
    switch_up = net.station(network, "server card, in", "ps, 1 Gbit/s")
    down = net.station(network, "server card, out", "ps, 1 Gbit/s")
    switch_down = net.station(network, "client card, in", "ps, 1 Gbit/s")
    received = net.node(server, "received")
    window = net.station(scheduler, "window", "sfq(4)")
    daemon = net.station(server, "daemon", "fcfs(16)")
    hits = net.station(memory, "copy", "ps, 4 GB/s")
    cache = net.store(memory, "page cache")
    dirty = net.node(memory, "dirty", "bag")
    disk = net.station(device, "disk", "fcfs(1), 60 MB/s")
    sent = net.node(server, "replies")

    net.transition(client, "issue", [think], [issued])
    net.transition(
        client,
        "split",
        [issued],
        [output(split_jobs, "many"), waiting],
        stores=(layouts,),
    )
    net.transition(client, "send", [split_jobs], [output(up, copy=False)])
    net.transition(
        client,
        "join",
        [waiting, {"node": answers, "weight": 1, "by": "request"}],
        [output(think, "maybe")],
        guarded=True,
    )
    net.transition(network, "forward", [up], [output(switch_up, delayed=True, copy=True)])
    net.transition(network, "return", [down], [output(switch_down, delayed=True, copy=True)])
    net.connect(network, switch_up, received)
    net.connect(network, switch_down, answers)
    net.connect(server, received, window)
    net.transition(scheduler, "dispatch", [window], [daemon])
    net.transition(
        memory,
        "look up",
        [daemon],
        [output(hits, "either"), output(disk, "either"), output(dirty, "maybe")],
        stores=(cache,),
    )
    net.transition(
        memory,
        "write back",
        [dirty],
        [disk],
        guarded=True,
        priority=-1,
        stores=(cache,),
    )
    net.transition(
        memory,
        "fill",
        [disk],
        [output(sent, "maybe")],
        stores=(cache,),
        signals=(window,),
    )
    net.transition(memory, "copied", [hits], [sent], signals=(window,))
    net.connect(server, sent, down)
    return {"page": main}


def sixty_nodes() -> Structure:
    """A multi-stage pipeline with forks, joins and retries, without pages but one."""
    net = NetBuilder()
    main = net.page("pipeline")
    pool = net.page("pool", main, copies=8)
    free = net.node(pool, "free", "bag")
    busy = net.station(pool, "worker", "fcfs(2)")
    net.transition(pool, "release", [busy], [free])
    rows: list[list[int]] = []
    for row in range(6):
        nodes = []
        for column in range(10):
            name = f"stage {row}.{column}"
            station = (row + column) % 3 == 1
            nodes.append(net.station(main, name, "fcfs(1)") if station else net.node(main, name))
        rows.append(nodes)
        for column in range(9):
            net.transition(
                main,
                f"step {row}.{column}",
                [nodes[column]],
                [nodes[column + 1]],
                guarded=column % 4 == 3,
            )
    net.transition(main, "fork", [rows[0][2]], [rows[1][3], rows[2][3]])
    net.transition(main, "merge", [rows[3][5], rows[4][5]], [rows[4][6]])
    net.transition(
        main,
        "retry",
        [rows[5][9]],
        [output(rows[5][0], "either"), output(rows[4][9], "either")],
    )
    net.transition(main, "borrow a worker", [rows[2][6], free], [output(busy, copy=True)])
    net.transition(main, "hand over", [rows[1][7]], [rows[0][8]])
    return {"page": main}


def by_name(structure: Structure, figures: dict[str, dict[str, float]]) -> dict[int, Any]:
    """Figures given by node name, by node id."""

    def walk(page: Structure) -> dict[int, Any]:
        found = {n["id"]: figures[n["name"]] for n in page["nodes"] if n["name"] in figures}
        for child in page["pages"]:
            found |= walk(child)
        return found

    return walk(structure["page"])


FILE_SYSTEM_LOAD = {
    "disk": {"utilisation": 0.974, "mean_queue": 3.21},
    "daemon": {"utilisation": 0.41, "mean_queue": 0.02},
    "window": {"utilisation": 1.0, "mean_queue": 11.8},
    "client card, out": {"utilisation": 0.03, "mean_queue": 0.0},
    "server card, in": {"utilisation": 0.57, "mean_queue": 0.4},
    "server card, out": {"utilisation": 0.71, "mean_queue": 0.9},
    "client card, in": {"utilisation": 0.05, "mean_queue": 0.0},
    "copy": {"utilisation": 0.02, "mean_queue": 0.0},
}

EXAMPLES: dict[str, tuple[Structure, dict[int, Any]]] = {
    "single_queue": (single_queue(), {}),
    "empty_page": (empty_page(), {}),
    "nested_pages": (nested_pages(), {}),
    "parallel_file_system": (
        parallel_file_system(),
        by_name(parallel_file_system(), FILE_SYSTEM_LOAD),
    ),
    "sixty_nodes": (sixty_nodes(), {}),
}
