//! Clients with a cache, their requests, and the preset that has both.

use std::path::Path;

use headrace_spec::{Limit, Loaded, Scenario, explain};

const FILE: &str = r#"system = "lustre"
clients.count = 8
network = { bandwidth = "1 Gbit/s", latency = "0.2 ms" }
[servers]
count = 4
device = { read_rate = "60 MB/s", write_rate = "50 MB/s" }
[[workload]]
block = "1 MiB"
"#;

fn load(text: &str, sets: &[&str]) -> Result<Loaded, headrace_spec::Error> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    headrace_spec::load(text, Path::new("my.toml"), &sets)
}

fn largest_job(scenario: &Scenario) -> Option<u64> {
    scenario.largest_job(&scenario.parallel()?.layout)
}

fn good(text: &str, sets: &[&str]) -> Loaded {
    load(text, sets).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_preset_gives_clients_a_cache_and_says_where_from() {
    let loaded = good(FILE, &[]);
    let clients = &loaded.scenario.clients;
    let machine = clients.machine().expect("a cache");
    assert_eq!(machine.dirty_per_server.0, 32 << 20);
    assert_eq!(clients.rpc.in_flight, Limit::Count(8));
    assert_eq!(largest_job(&loaded.scenario), Some(1 << 20));
    for row in explain(&loaded).rows {
        if row.origin == "preset lustre" {
            assert!(!row.source.is_empty(), "{}", row.path);
        }
    }
    let text = loaded.scenario.to_canonical_toml();
    assert_eq!(good(&text, &[]).scenario, loaded.scenario);
}

#[test]
fn the_cache_can_be_taken_away_and_packets_be_smaller() {
    let sets = ["clients.kind=simple", "layout.packet=64 KiB"];
    let loaded = good(FILE, &sets);
    assert!(loaded.scenario.clients.machine().is_none());
    assert_eq!(largest_job(&loaded.scenario), Some(64 << 10));
}

#[test]
fn what_only_a_cache_can_do_is_refused_without_one() {
    for set in [
        "workload.0.io.direct=true",
        "workload.0.io.interface=mapped",
    ] {
        // Mappings are only read.
        let read = "workload.0.phases=[\"read\"]";
        good(FILE, &[read, set]);
        let error = load(FILE, &[read, set, "clients.kind=simple"]).expect_err("no cache");
        let error = error.to_string();
        assert!(error.contains("on local file systems only"), "{error}");
    }
    let error = load(FILE, &["workload.0.io.priority=idle"]).expect_err("no I/O scheduler");
    assert!(error.to_string().contains("leave it out"), "{error}");
}

#[test]
fn limits_hold_at_least_a_page() {
    for (set, message) in [
        (
            "clients.rpc.size=1 KiB",
            "--set clients.rpc.size=1 KiB: expected 0 or at least a page: \
             clients.machine.memory.page = \"4 KiB\"",
        ),
        (
            "clients.machine.dirty_per_server=1 KiB",
            "--set clients.machine.dirty_per_server=1 KiB: expected 0 or at least a page: \
             clients.machine.memory.page = \"4 KiB\"",
        ),
    ] {
        assert_eq!(
            load(FILE, &[set]).expect_err("too small").to_string(),
            message
        );
    }
}
