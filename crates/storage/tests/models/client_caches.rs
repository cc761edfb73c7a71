//! Clients with a page cache: what it takes from the servers and brings to them, and
//! how many requests are under way.

use headrace_storage::Outcome;
use proptest::prelude::*;

use crate::running::{busy, close, last, latencies, refusal, run, run_scenario, shipped, station};

/// One client with a cache and one server; a byte takes 1 ns on the wire, 1 ps to read
/// and 1 µs to write.
const CACHED: &str = r#"
    [clients]
    count = 1
    [clients.machine.memory]
    size = "64 MiB"
    [servers]
    count = 1
    device = { read_rate = "1 TB/s", write_rate = "1 MB/s" }
    [network]
    topology = "pairs"
    bandwidth = "1 GB/s"
    latency = "100 us"
    [layout]
    unit = "64 KiB"
    [[workload]]
    block = "4 MiB"
    transfer = "64 KiB"
    phases = ["write"]
"#;

fn throughput(outcome: &Outcome, operation: &str) -> f64 {
    outcome.report.throughput[operation]
}

/// A client without a cache that asks for much at once: each of `k` places in the line
/// carries a request of 64 KiB a round trip of two latencies and the data's time on the
/// wire, until the wire is full.
#[test]
fn throughput_is_what_is_in_flight_over_a_round_trip_until_the_link_is_full() {
    let sets = |most: &str| {
        [
            "clients.kind=simple".to_owned(),
            "clients.rpc.size=64 KiB".to_owned(),
            format!("clients.rpc.in_flight={most}"),
            "workload.0.block=64 MiB".to_owned(),
            "workload.0.transfer=64 MiB".to_owned(),
            "workload.0.phases=[\"read\"]".to_owned(),
        ]
    };
    let text = CACHED.replace("[clients.machine.memory]\n    size = \"64 MiB\"\n", "");
    let rate = |most: &str| {
        let sets = sets(most);
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        throughput(&run(&text, &sets), "read")
    };
    let (size, round_trip) = (65536.0, 265.536e-6);
    for most in [1.0, 2.0, 3.0, 4.0] {
        close(rate(&format!("{most}")), most * size / round_trip, 0.01);
    }
    for most in ["5", "16", "unlimited"] {
        close(rate(most), 1e9, 0.01);
    }
}

/// Four servers, each with a line of its own: one at a time to each is four in all.
#[test]
fn every_server_has_a_line_of_its_own() {
    let text = CACHED.replace("[clients.machine.memory]\n    size = \"64 MiB\"\n", "");
    let sets = [
        "servers.count=4",
        "clients.rpc.size=64 KiB",
        "clients.rpc.in_flight=1",
        "workload.0.block=64 MiB",
        "workload.0.transfer=64 MiB",
        "workload.0.phases=[\"read\"]",
    ];
    let rate = throughput(&run(&text, &sets), "read");
    close(rate, 4.0 * 65536.0 / 265.536e-6, 0.01);
}

/// Cached data needs no server: the first reader waits for the servers, later ones do not.
#[test]
fn what_was_read_once_is_read_from_the_cache() {
    let sets = [
        "workload.0.phases=[\"read\",\"read\"]",
        "clients.machine.cpu.system_call=3 us",
        "clients.machine.copying.page_in_l2=1 us",
    ];
    let outcome = run(CACHED, &sets);
    assert!((busy(&outcome, "server/device") - 4.0 * 1048576.0).abs() < 4096.0);
    // The copy of 16 pages and the call.
    let all = latencies(&outcome);
    assert!(all[64..].iter().all(|&it| it == 19_000_000), "{all:?}");
}

/// Without read-ahead and a cache that is too small nothing is gained; past the cache
/// (O_DIRECT) nothing is kept.
#[test]
fn direct_reads_ask_every_time() {
    let sets = [
        "workload.0.phases=[\"read\",\"read\"]",
        "workload.0.io.direct=true",
    ];
    let outcome = run(CACHED, &sets);
    assert_eq!(station(&outcome, "server/device").visits, 128);
    let all = latencies(&outcome);
    // Two latencies, the data's time on the wire and at the device.
    assert!(
        all[1..].iter().all(|&it| it == 265_536_000 + 65_536),
        "{all:?}"
    );
}

/// Read-ahead keeps the wire full although a process reads 4 KiB at a time.
#[test]
fn reading_ahead_hides_the_way_to_the_servers() {
    let rate = |window: &str, transfer: &str| {
        let window = format!("clients.machine.read_ahead.window={window}");
        let transfer = format!("workload.0.transfer={transfer}");
        let sets = [
            "workload.0.phases=[\"read\"]",
            "workload.0.block=32 MiB",
            "clients.rpc.size=256 KiB",
            &window,
            &transfer,
        ];
        throughput(&run(CACHED, &sets), "read")
    };
    for transfer in ["4 KiB", "64 KiB", "1 MiB"] {
        let ahead = rate("4 MiB", transfer);
        assert!(ahead > 0.9e9, "{transfer}: {ahead}");
    }
    // A page at a time there and back.
    close(rate("0 B", "4 KiB"), 4096.0 / 204.1e-6, 0.01);
}

/// Writes return at once until the dirty data for a server reaches its limit, and then wait
/// for the server: 4 MiB at 1 µs a byte, of which 1 MiB is left when the last write returns.
#[test]
fn a_server_has_a_limit_of_dirty_data() {
    let sets = [
        "clients.rpc.size=64 KiB",
        "clients.machine.dirty_per_server=1 MiB",
    ];
    let limited = last(&run(CACHED, &sets)).as_seconds();
    close(limited, 3.0 * 1.048576, 0.03);
    let free = last(&run(CACHED, &sets[..1])).as_seconds();
    assert!(free < 1e-3, "{free}");
}

/// A synchronous write is at the server when it returns.
#[test]
fn synchronous_writes_wait_for_the_server() {
    let outcome = run(CACHED, &["workload.0.io.synchronous=true"]);
    let all = latencies(&outcome);
    let data = 65_536_000 + 65_536_000_000 + 200_000_000;
    // And then asks it to flush what it has not written yet.
    assert!(
        all[1..].iter().all(|&it| it == data + 200_000_000),
        "{all:?}"
    );
}

#[derive(Clone, Debug)]
struct Case {
    clients: u32,
    processes: u32,
    servers: u32,
    unit: u64,
    request: u64,
    limit: u64,
    in_flight: u32,
    transfers: u64,
    pages: u64,
    memory: u64,
    shared: bool,
    random: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    (
        (1_u32..4, 1_u32..3, 1_u32..5, 1_u64..10, 0_u64..9, 0_u64..20),
        (1_u32..4, 1_u64..30, 1_u64..9, 16_u64..200),
        any::<(bool, bool)>(),
    )
        .prop_map(
            |(
                (clients, processes, servers, unit, request, limit),
                (in_flight, transfers, pages, memory),
                (shared, random),
            )| Case {
                clients,
                processes,
                servers,
                unit,
                request,
                limit,
                in_flight,
                transfers,
                pages,
                memory,
                shared,
                random,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every byte that was written is on a server after `sync`, once, whatever the
    /// limits; and every request is done.
    #[test]
    fn every_byte_reaches_a_server_once(case in cases()) {
        let page = 4096;
        let processes = u64::from(case.clients * case.processes);
        let each = case.transfers * case.pages * page;
        let text = CACHED.replace("count = 1\n    device", &format!("count = {}\n    device", case.servers));
        let sets = [
            format!("clients.count={}", case.clients),
            format!("clients.processes={}", case.processes),
            format!("clients.machine.memory.size={} B", case.memory * page),
            // Writers look at the limit after a fourth of it: whole pages, or one is
            // written in two parts.
            format!("clients.machine.write_back.bytes={} B", case.memory.div_ceil(20) * 4 * page),
            "clients.machine.write_back.background_bytes=4 KiB".to_owned(),
            format!("clients.machine.dirty_per_server={} B", case.limit * page),
            format!("clients.rpc.size={} B", case.request * page),
            format!("clients.rpc.in_flight={}", case.in_flight),
            format!("layout.unit={} B", case.unit * page / 2),
            format!("workload.0.block={each} B"),
            format!("workload.0.transfer={} B", case.pages * page),
            format!("workload.0.access={}", if case.shared { "shared" } else { "file-per-process" }),
            format!("workload.0.order={}", if case.random { "random" } else { "sequential" }),
            "workload.0.phases=[\"write\",\"sync\"]".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(&text, &sets);
        let written = busy(&outcome, "server/device") / 1e6;
        let expected = (processes * each) as f64;
        prop_assert!((written - expected).abs() < 1e-6 * expected, "{written}, expected {expected}");
        prop_assert_eq!(outcome.report.operations["write"].count, processes * case.transfers);
        prop_assert_eq!(outcome.report.operations["write"].bytes, processes * each);
    }
}

/// The shapes of Hindman 2011, section 4.4, for Lustre on Gigabit Ethernet, whose
/// payload is 1448 of 1538 bytes of a packet.
mod lustre {
    use super::*;

    const WIRE: f64 = 125e6 * 1448.0 / 1538.0;

    fn rate(operation: &str, sets: &[&str]) -> f64 {
        // A fourth of the memory and the files of the study.
        let smaller = [
            "clients.machine.memory.size=512 MiB",
            "clients.machine.memory.used=75 MiB",
            "workload.0.block=1 GiB",
        ];
        let scenario = shipped("hindman-lustre.toml", &[&smaller[..], sets].concat());
        throughput(&run_scenario(&scenario), operation)
    }

    /// Blocks are gathered and read ahead: their size does not matter.
    #[test]
    fn blocks_of_any_size_move_at_the_rate_of_the_wire() {
        for transfer in ["4 KiB", "128 KiB", "8 MiB"] {
            let transfer = format!("workload.0.transfer={transfer}");
            let sets = ["clients.count=1", &*transfer];
            // Data that is dirty at the end is not on the wire yet.
            close(rate("write", &sets), WIRE, 0.08);
            close(rate("read", &sets), WIRE, 0.03);
        }
    }

    /// Two servers are saturated by two clients and stay so.
    #[test]
    fn files_of_their_own_use_both_servers() {
        for clients in ["2", "4", "6"] {
            let clients = format!("clients.count={clients}");
            close(rate("read", &[&clients]), 2.0 * WIRE, 0.03);
        }
    }

    /// One file for all lies on one server; striped, on both.
    #[test]
    fn one_file_for_all_needs_stripes() {
        let one = rate("read", &["workload.0.access=shared"]);
        close(one, WIRE, 0.03);
        // Clients meet at a server and do not end together; where their locks end, so does
        // their read-ahead.
        let striped = rate("read", &["workload.0.access=shared", "layout.servers=2"]);
        close(striped, 2.0 * WIRE, 0.12);
    }

    /// PVFS2, which keeps nothing on clients: small blocks wait for the way to the
    /// servers, and 2 MiB are most of what larger ones give.
    #[test]
    fn without_a_cache_blocks_have_to_be_large() {
        let rates: Vec<f64> = ["4 KiB", "64 KiB", "512 KiB", "2 MiB", "8 MiB"]
            .iter()
            .map(|transfer| {
                let transfer = format!("workload.0.transfer={transfer}");
                let sets = [
                    "system=pvfs2",
                    "servers.count=3",
                    "clients.count=1",
                    "clients.kind=simple",
                    "workload.0.block=256 MiB",
                    &*transfer,
                ];
                rate("read", &sets)
            })
            .collect();
        assert!(rates.windows(2).all(|pair| pair[0] < pair[1]), "{rates:?}");
        assert!(
            rates[0] < 0.2 * rates[4] && rates[3] > 0.8 * rates[4],
            "{rates:?}"
        );
    }
}

#[test]
fn what_has_no_effect_is_refused() {
    let local = refusal(
        "system = \"ext4\"\n[clients]\ncount = 1\n[clients.machine.memory]\nsize = \"1 GiB\"\n\
         [machine]\ndevice = { read_rate = \"1 MB/s\", write_rate = \"1 MB/s\" }\n\
         [[workload]]\nblock = \"1 MiB\"\n",
        &[],
    );
    assert!(
        local.contains("[machine] says what each client is"),
        "{local}"
    );
    let small = refusal(CACHED, &["clients.rpc.size=1 KiB"]);
    assert!(
        small.contains("at least a page: clients.machine.memory.page = \"4 KiB\""),
        "{small}"
    );
}

/// A file on one server is a strip without an end: pages go out as with stripes.
#[test]
fn a_file_without_stripes_is_written_back_like_others() {
    let outcome = |kind: &str| {
        let text = CACHED.replace("unit = \"64 KiB\"", kind);
        let sets = [
            "clients.rpc.size=64 KiB",
            "clients.machine.dirty_per_server=256 KiB",
            "workload.0.phases=[\"write\",\"sync\"]",
        ];
        let outcome = run(&text, &sets);
        (
            station(&outcome, "server/device").visits,
            outcome.report.simulated_seconds,
        )
    };
    assert_eq!(outcome("kind = \"basic\""), outcome("unit = \"64 KiB\""));
}
