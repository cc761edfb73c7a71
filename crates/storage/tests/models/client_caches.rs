//! Clients with a page cache: its transfers from and to the servers, and the number of requests in
//! flight.

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

/// A client without a cache that asks for much at once. Each of `k` places in the line carries a
/// request of 64 KiB a round trip, until the wire is full. The round trip is two latencies and the
/// data's time on the wire.
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

/// Without read-ahead and with a cache that is too small nothing is gained; O_DIRECT requests leave
/// nothing in the cache.
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
    // A page at a time, with a round trip each.
    close(rate("0 B", "4 KiB"), 4096.0 / 204.1e-6, 0.01);
}

/// Writes return at once until the dirty data for a server reaches its limit, and then wait for the
/// server. These are 4 MiB at 1 µs a byte, of which 1 MiB is left when the last write returns.
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
    // And then asks it to flush its unwritten data.
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

/// A client reads 10 MB at 125 MB/s, in requests of 1 MB over RPCs of 250 kB and stripes of 1 MB.
/// None is a multiple of a page.
#[test]
fn requests_and_stripes_need_not_be_whole_pages() {
    let text = r#"
        [clients]
        count = 1
        kind = "machine"
        rpc = { size = "250 kB" }
        [servers]
        count = 1
        device = { read_rate = "200 MB/s", write_rate = "100 MB/s" }
        [network]
        bandwidth = "125 MB/s"
        latency = "1 ms"
        [layout]
        unit = "1 MB"
        [[workload]]
        block = "10 MB"
        transfer = "1 MB"
        phases = ["read"]
    "#;
    let outcome = run(text, &[]);
    let read = busy(&outcome, "server/device") * 200e-6;
    // The last page is read whole.
    assert!((10e6..10e6 + 4096.0).contains(&read.round()), "{read}");
    let seconds = last(&outcome).as_seconds();
    assert!((0.08..0.2).contains(&seconds), "{seconds}");
    for system in ["nfs", "cifs", "glusterfs", "lustre", "lustre-2.15"] {
        let system = format!("system={system}");
        let sets = [
            &*system,
            "clients.rpc.size=1 MB",
            "workload.0.phases=[\"write\",\"read\"]",
        ];
        let outcome = run(&text.replace("unit = \"1 MB\"", ""), &sets);
        assert_eq!(
            outcome.report.operations["read"].bytes, 10_000_000,
            "{system}"
        );
    }
}

/// Sizes of requests, stripes, blocks, transfers and limits in bytes.
#[derive(Clone, Debug)]
struct OddSizes {
    request: u64,
    unit: u64,
    transfer: u64,
    transfers: u64,
    limit: u64,
    memory: u64,
    window: u64,
    largest_folio: u64,
    targets: u32,
    shape: (bool, bool, bool, bool),
}

fn odd_sizes() -> impl Strategy<Value = OddSizes> {
    let request = prop_oneof![Just(0), 4096_u64..400_000];
    let limit = prop_oneof![Just(0), 4096_u64..300_000];
    (
        (request, 1000_u64..300_000, 1_u64..200_000, 1_u64..12),
        (
            limit,
            70_000_u64..600_000,
            0_u64..200_000,
            12_u32..17,
            1_u32..4,
        ),
        any::<(bool, bool, bool, bool)>(),
    )
        .prop_map(
            |(
                (request, unit, transfer, transfers),
                (limit, memory, window, folio, targets),
                shape,
            )| {
                OddSizes {
                    request,
                    unit,
                    transfer,
                    transfers,
                    limit,
                    memory,
                    window,
                    largest_folio: 1 << folio,
                    targets,
                    shape,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any sizes, with locks on parts of files and without, a run ends. It reads and writes the
    /// requested bytes, and stores every written one. A call makes each of its pages dirty once, so
    /// it stores a page of one process's file at most once. That is all pages once, and one more
    /// time for each border of two transfers inside a page.
    #[test]
    fn any_sizes_end_and_conserve_bytes(case in odd_sizes()) {
        let (locks, shared, random, close) = case.shape;
        let text = CACHED.replace("count = 1\n    device", "count = 2\n    device");
        let each = case.transfer * case.transfers;
        let sets = [
            "clients.count=2".to_owned(),
            format!("clients.machine.memory.size={} B", case.memory),
            format!("clients.machine.memory.largest_folio={} B", case.largest_folio),
            format!("clients.machine.read_ahead.window={} B", case.window),
            format!("clients.machine.dirty_per_server={} B", case.limit),
            format!("clients.rpc.size={} B", case.request),
            format!("servers.targets={}", case.targets),
            format!("layout.unit={} B", case.unit),
            format!("locks.kind={}", if locks { "extent" } else { "none" }),
            format!("workload.0.block={each} B"),
            format!("workload.0.transfer={} B", case.transfer),
            format!("workload.0.access={}", if shared { "shared" } else { "file-per-process" }),
            format!("workload.0.order={}", if random { "random" } else { "sequential" }),
            format!("workload.0.opens={close}"),
            "workload.0.phases=[\"write\",\"sync\",\"read\"]".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(&text, &sets);
        for operation in ["write", "read"] {
            let report = &outcome.report.operations[operation];
            prop_assert_eq!(report.bytes, 2 * each);
            prop_assert_eq!(report.count, 2 * case.transfers);
        }
        // 1 us to write a byte.
        let servers = outcome.report.servers.iter();
        let written: u64 = servers.map(|it| it.written_bytes).sum();
        let page = 4096;
        let borders = (1..case.transfers).filter(|it| it * case.transfer % page > 0);
        let stores = each.div_ceil(page) + borders.count() as u64;
        prop_assert!(written >= 2 * each, "{} of {}", written, 2 * each);
        if !shared {
            prop_assert!(written <= 2 * stores * page, "{} of {}", written, 2 * each);
        }
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

/// Clients that write files over NFS to one server and read them again.
const OFFICE: &str = r#"
    system = "nfs"
    [clients]
    count = 50
    [servers]
    count = 1
    targets = 4
    device = { read_rate = "180 MB/s", write_rate = "160 MB/s", time_per_request = "4 ms" }
    memory = { cache = "16 GiB", dirty_limit = "3 GiB" }
    [network]
    bandwidth = "10 Gbit/s"
    latency = "50 us"
    [[workload]]
    files = 20
    block = "16 MiB"
    transfer = "1 MiB"
    phases = ["write", "read"]
"#;

/// IOR closes each file, and NFS clients flush it there. 50 times 320 MiB pass a card of 1.25 GB/s,
/// which takes 13.42 s at least, and nothing is left on the clients.
#[test]
fn closing_a_file_over_nfs_sends_what_was_written() {
    let report = run(OFFICE, &[]).report;
    let bytes = 50 * 320 * 1_048_576_u64;
    let least = bytes as f64 / 1.25e9;
    let synced = report.synced_writes.expect("closes sync");
    assert_eq!(synced.bytes, bytes);
    assert!(synced.active_seconds >= least, "{}", synced.active_seconds);
    assert!(synced.throughput <= 1.25e9);
    assert_eq!(report.operations["close"].count, 2 * 50 * 20);
    assert_eq!(report.operations["write"].into, Some("client caches"));
    assert_eq!(report.unwritten, None);
}

/// Without closes, the data that the clients have not sent is counted as such.
#[test]
fn data_that_is_dirty_at_the_end_is_reported() {
    let report = run(OFFICE, &["workload.0.opens=false"]).report;
    let unwritten = report.unwritten.expect("clients hold data");
    let sent: u64 = report.servers.iter().map(|it| it.written_bytes).sum();
    let left = 50 * 320 * 1_048_576_u64 - sent;
    // Clients count data until the answer arrives: of 16 requests each at most.
    let answers = 50 * 16 * 1_048_576;
    assert!(left > 0);
    assert!(
        (left..=left + answers).contains(&unwritten.client_bytes),
        "{left}, {unwritten:?}"
    );
    assert!(
        report
            .warnings
            .iter()
            .any(|it| it.condition == "beyond-cards")
    );
}

/// Writes that wait for the device are not "into client caches", whether the workload or the
/// records of a replay open their files so. Their device bounds them.
#[test]
fn writes_that_wait_for_the_device_are_not_into_caches() {
    let replay = |flags: &[&str]| {
        let mut lines = "time,process,operation,file,offset,size,duration,flags,other\n".to_owned();
        for (number, flags) in flags.iter().enumerate() {
            lines += &format!("0.0,1,open,/d/{number},0,0,0.0,write|{flags},\n");
            lines += &format!("0.1,1,write,/d/{number},0,1048576,0.001,,\n");
        }
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        std::io::Write::write_all(&mut file, lines.as_bytes()).unwrap();
        let workload = format!(
            "workload=[{{ kind = \"trace\", file = {:?} }}]",
            file.path()
        );
        run(CACHED, &[&workload])
    };
    let into = |outcome: &Outcome| outcome.report.operations["write"].into;
    assert_eq!(into(&replay(&["", ""])), Some("client caches"));
    assert_eq!(into(&replay(&["", "direct"])), Some("client caches"));
    for flags in ["direct", "synchronous", "direct|synchronous"] {
        let outcome = replay(&[flags]);
        assert_eq!(into(&outcome), None, "{flags}");
        assert!(throughput(&outcome, "write") <= 1e6, "{flags}");
        assert!(outcome.report.bottleneck.sentence.contains("device"));
    }
    assert_eq!(into(&run(CACHED, &[])), Some("client caches"));
    for flag in [
        "workload.0.io.direct=true",
        "workload.0.io.synchronous=true",
    ] {
        assert_eq!(into(&run(CACHED, &[flag])), None, "{flag}");
    }
    // Reads of others through the cache make no difference.
    let reader = "[[workload]]\nblock = \"64 KiB\"\nphases = [\"read\"]\n";
    let both = run(&format!("{CACHED}{reader}"), &["workload.0.io.direct=true"]);
    assert_eq!(into(&both), None);
}

/// A write and a close for each of 1,000 files of mdtest: the device stores each file, 5 ms.
#[test]
fn mdtest_over_nfs_stores_each_file_as_it_closes() {
    let text = r#"
        system = "nfs"
        [clients]
        count = 1
        [servers]
        count = 1
        device = { read_rate = "100 MB/s", write_rate = "100 MB/s", time_per_request = "5 ms" }
        [metadata]
        time_per_operation = "0.2 ms"
        [network]
        bandwidth = "1 Gbit/s"
        latency = "100 us"
        [[workload]]
        kind = "mdtest"
        files = 1000
        bytes = "4 KiB"
        phases = ["create"]
    "#;
    let outcome = run(text, &[]);
    assert!(station(&outcome, "server/device").visits >= 1000);
    assert!(outcome.report.simulated_seconds >= 1000.0 * (0.4e-3 + 5e-3));
}

/// One setting of a scenario, from less to more of it.
#[derive(Clone, Debug)]
enum More {
    Slots(u32),
    Targets(u32),
    Servers(u32),
    DeviceRate(u32),
    DeviceTime(u32),
    NetworkRate(u32),
    Cores(u32),
}

impl More {
    fn set(&self, factor: u32) -> String {
        match self {
            More::Slots(it) => format!("clients.rpc.in_flight={}", it * factor),
            More::Targets(it) => format!("servers.targets={}", it * factor),
            More::Servers(it) => format!("servers.count={}", it * factor),
            More::DeviceRate(it) => format!("servers.device.write_rate={} MB/s", 20 * it * factor),
            More::DeviceTime(it) => {
                format!("servers.device.time_per_request={} us", 1000 * it / factor)
            }
            More::NetworkRate(it) => format!("network.bandwidth={} MB/s", 50 * it * factor),
            More::Cores(it) => format!("clients.machine.cpu.cores={}", it * factor),
        }
    }
}

fn more() -> impl Strategy<Value = More> {
    prop_oneof![
        (1_u32..9).prop_map(More::Slots),
        (1_u32..3).prop_map(More::Targets),
        (1_u32..3).prop_map(More::Servers),
        (1_u32..20).prop_map(More::DeviceRate),
        (1_u32..9).prop_map(More::DeviceTime),
        (1_u32..20).prop_map(More::NetworkRate),
        (1_u32..3).prop_map(More::Cores),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Twice the slots, targets, servers, cores or rates never make a run over NFS slower: files
    /// get their targets in turn, as they are made. The order in which requests meet at a server
    /// may move the end by a part of one request. A small dirty limit is left out: each target has
    /// its part of it.
    #[test]
    fn more_never_makes_nfs_slower(
        more in more(), clients in 1_u32..7, files in 1_u32..5, transfers in 1_u64..9,
        dirty_limit in prop::sample::select(vec![0_u32, 1000]),
        system in prop::sample::select(vec!["nfs", "cifs"]),
        slots in 1_u32..20,
    ) {
        // Written through, requests that share a card reach their device later
        // (client/in_flight.rs).
        prop_assume!(dirty_limit > 0 || !matches!(more, More::Slots(_) | More::NetworkRate(_)));
        let run_with = |factor: u32| {
            let sets = [
                format!("system={system}"),
                format!("clients.count={clients}"),
                format!("clients.rpc.in_flight={slots}"),
                format!("servers.memory.dirty_limit={dirty_limit} MiB"),
                format!("workload.0.files={files}"),
                format!("workload.0.block={transfers} MiB"),
                more.set(factor),
            ];
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            run(OFFICE, &sets).report.simulated_seconds
        };
        let (one, two) = (run_with(1), run_with(2));
        prop_assert!(two <= one * 1.005, "{:?}: {} s, {} s", more, one, two);
    }
}

/// A cold file of 25,600 pages that one process reads in order. No page is a hit the first time,
/// read ahead or not, and all are hits the second time.
#[test]
fn pages_that_are_read_ahead_are_no_hits() {
    for (window, transfer) in [("128 KiB", "1 MiB"), ("4 MiB", "64 KiB"), ("0 B", "4 KiB")] {
        let window_set = format!("clients.machine.read_ahead.window={window}");
        let transfer_set = format!("workload.0.transfer={transfer}");
        let sets = [
            "clients.machine.memory.size=1 GiB",
            "workload.0.block=100 MiB",
            &window_set,
            &transfer_set,
        ];
        let once = [&sets[..], &["workload.0.phases=[\"read\"]"]].concat();
        let twice = [&sets[..], &["workload.0.phases=[\"read\",\"read\"]"]].concat();
        let counts = |sets: &[&str]| {
            let caches = run(CACHED, sets).report.caches;
            let cache = caches
                .iter()
                .find(|it| it.cache == "system/client/page cache");
            let cache = cache.expect("clients have a page cache").clone();
            assert_eq!(cache.hit_bytes, cache.hits * 4096);
            assert_eq!(cache.read_ahead_bytes, cache.read_ahead * 4096);
            (cache.hits, cache.read_ahead, cache.misses)
        };
        let (hits, ahead, misses) = counts(&once);
        assert_eq!((hits, ahead + misses), (0, 25_600), "{window}");
        assert_eq!(ahead == 0, window == "0 B", "{window}");
        assert_eq!(counts(&twice), (25_600, ahead, misses), "{window}");
    }
}

/// Data on the metadata server comes with the open of this very read: no hit.
#[test]
fn data_that_an_open_brings_is_no_hit() {
    let text = r#"
        system = "lustre-2.15"
        [clients]
        count = 1
        [servers]
        count = 1
        device = { read_rate = "1 GB/s", write_rate = "1 GB/s" }
        [network]
        bandwidth = "1 GB/s"
        latency = "10 us"
        [[layout.component]]
        end = "64 KiB"
        on = "metadata-server"
        [[layout.component]]
        servers = 1
        [[workload]]
        files = 100
        block = "32 KiB"
        transfer = "32 KiB"
        phases = ["read"]
    "#;
    let caches = run(text, &[]).report.caches;
    let cache = caches
        .iter()
        .find(|it| it.cache == "system/client/page cache");
    let cache = cache.expect("clients have a page cache");
    assert_eq!(
        (cache.hits, cache.read_ahead + cache.misses),
        (0, 800),
        "{cache:?}"
    );
    assert_eq!(cache.hit_ratio, Some(0.0));
}

/// Presets with client caches declare what copies and calls cost, so that every rate is finite.
#[test]
fn rates_of_presets_are_finite() {
    for system in ["nfs", "cifs", "glusterfs", "lustre", "lustre-2.15", "hdfs"] {
        let system_set = format!("system={system}");
        let sets = [
            &*system_set,
            "clients.count=2",
            "servers.count=3",
            "servers.targets=1",
            "workload.0.files=1",
        ];
        let report = run(OFFICE, &sets).report;
        // No faster than memory: 32 cores that move 4,812 MB/s each.
        for (operation, rate) in &report.throughput {
            assert!(*rate < 2.0 * 32.0 * 4.82e9, "{system}, {operation}: {rate}");
        }
        assert!(report.throughput.contains_key("read"), "{system}");
    }
    // One without costs has a warning.
    let sets = ["workload.0.phases=[\"write\",\"read\"]"];
    let report = run(CACHED, &sets).report;
    assert!(report.throughput["read"].is_infinite());
    let warned = report
        .warnings
        .iter()
        .filter(|it| it.condition == "no-time");
    assert!(
        warned.clone().any(|it| it.message.starts_with("read:")),
        "{:?}",
        report.warnings
    );
}
