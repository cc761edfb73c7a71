//! Layouts of workloads of their own, and pools: which disks work for whom.

use crate::running::{close, latencies, refusal, run};

/// Two groups of one client each, four servers whose disks read 60 MB/s, and a network
/// that is no limit.
const SYSTEM: &str = r#"
    [clients]
    count = 2
    groups = ["wide", "narrow"]
    [servers]
    count = 4
    device = { read_rate = "60 MB/s", write_rate = "60 MB/s" }
    [network]
    bandwidth = "100 GB/s"
    latency = "1 us"
    [layout]
    unit = "1 MiB"
    first = "zero"
    [[pool]]
    name = "most"
    servers = ["0-2"]
    [[pool]]
    name = "last"
    servers = [3]
"#;

const WIDE: &str = r#"
    [[workload]]
    group = "wide"
    block = "36 MiB"
    transfer = "12 MiB"
    phases = ["read"]
    layout = { pool = "most" }
"#;

const NARROW: &str = r#"
    [[workload]]
    group = "narrow"
    block = "12 MiB"
    phases = ["read"]
    layout = { pool = "last" }
"#;

fn both() -> String {
    [SYSTEM, WIDE, NARROW].concat()
}

fn narrow(sets: &[&str]) -> f64 {
    let outcome = run(&[SYSTEM, NARROW].concat(), sets);
    outcome.report.throughput["read"]
}

/// Three disks for one group and one for the other: both move what their disks do.
#[test]
fn pools_keep_groups_apart() {
    let outcome = run(&both(), &[]);
    let groups = &outcome.report.groups;
    close(groups["wide"].throughput["read"], 180e6, 5e-3);
    close(groups["narrow"].throughput["read"], 60e6, 5e-3);
}

/// Without the pool of its own the narrow group waits on the wide one's disks.
#[test]
fn without_pools_they_share_disks() {
    let outcome = run(&both(), &["workload.1.layout.pool=most"]);
    let shared = outcome.report.groups["narrow"].throughput["read"];
    assert!(shared < 170e6, "{shared}");
    close(narrow(&["workload.0.layout.pool=most"]), 180e6, 5e-3);
}

/// A workload's layout inherits missing fields from the scenario's layout of the same
/// kind; a layout of another kind inherits nothing.
#[test]
fn a_layout_of_its_own_is_over_the_scenarios() {
    let most = "workload.0.layout.pool=most";
    close(narrow(&[most, "workload.0.layout.servers=1"]), 60e6, 5e-3);
    close(narrow(&[most, "workload.0.layout.kind=basic"]), 60e6, 5e-3);
    // A smaller unit spreads smaller requests.
    let small = "workload.0.transfer=192 KiB";
    // (One in six reaches into the next stripe.)
    close(narrow(&[most, small]), 60e6, 0.05);
    let unit = "workload.0.layout.unit=64 KiB";
    close(narrow(&[most, small, unit]), 180e6, 0.02);
}

/// A pool has both targets of each of its servers: six disks.
#[test]
fn pools_have_all_targets_of_their_servers() {
    let sets = ["servers.targets=2", "network.bandwidth=100 TB/s"];
    let outcome = run(&[SYSTEM, WIDE].concat(), &sets);
    close(outcome.report.throughput["read"], 360e6, 5e-3);
}

/// Files are dealt out in the order of their first use. By their numbers, the first of four
/// processes' four files each would begin on one server.
#[test]
fn balance_deals_files_out_whatever_their_numbers() {
    let text = [SYSTEM, NARROW].concat();
    let text = text.replace("layout = { pool = \"last\" }", "files = 4");
    let sets = [
        "clients.count=8",
        "workload.0.block=1 MiB",
        "layout.servers=1",
        "layout.first=balance",
    ];
    let balanced = latencies(&run(&text, &sets));
    let by_number = [&sets[..], &["layout.first=round-robin"]].concat();
    let by_number = latencies(&run(&text, &by_number));
    let disk = (1_048_576.0_f64 / 60e6 * 1e12) as u64;
    let longest = |all: &[u64]| all.iter().copied().max().unwrap_or(0);
    assert!(longest(&balanced) < disk * 11 / 10, "{balanced:?}");
    assert!(longest(&by_number) > disk * 39 / 10, "{by_number:?}");
}

#[test]
fn what_does_not_fit_is_refused() {
    for (set, expected) in [
        ("workload.1.layout.pool=lst", "did you mean \"last\"?"),
        (
            "workload.1.layout.servers=2",
            "pool \"last\" has fewer targets: 1",
        ),
        ("servers.count=3", "there is no server 3"),
        (
            "replication.copies=2",
            "pools of replicated data are not modelled",
        ),
        (
            "workload.0.layout.packet=0 B",
            "expected a size of more than 0",
        ),
    ] {
        let error = refusal(&both(), &[set]);
        assert!(error.contains(expected), "{set}: {error}");
    }
}
