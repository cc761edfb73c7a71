//! Compares device transfers with application requests on random small scenarios: no byte is lost
//! or written twice.

use std::collections::BTreeSet;

use headrace_storage::Outcome;
use headrace_trace::Operation;
use proptest::prelude::*;

use crate::running::{busy, run};

/// A byte takes 1 ps to read and 1 us to write, so that the device's time of work tells the bytes
/// of each. The second client waits until the device has written all evicted data. Its last read
/// evicts nothing, so that the run ends with idle devices.
const PAGES_OF_16: &str = r#"
    [clients]
    count = 2
    groups = ["tested", "late"]
    [servers]
    device = { read_rate = "1 TB/s", write_rate = "1 MB/s" }
    memory = { page = "16 B" }
    [network]
    topology = "pairs"
    bandwidth = "1 TB/s"
    latency = "1 us"
    [layout]
    first = "zero"
    unit = "16 B"
    [[workload]]
    group = "tested"
    kind = "ior"
    [[workload]]
    group = "late"
    block = "16 B"
    think = "1000 s"
    phases = ["read"]
    repeat = 3
"#;

const PAGE: u64 = 16;

#[derive(Clone, Debug)]
struct Case {
    servers: u32,
    cache: u64,
    limit: u64,
    /// Transfers a block, and pages a transfer.
    transfers: u64,
    pages: u64,
    order: &'static str,
    phases: &'static [&'static str],
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    const PHASES: [&[&str]; 5] = [
        &["write"],
        &["write", "read"],
        &["read", "write"],
        &["write", "write", "read"],
        &["write", "read", "read"],
    ];
    let sizes = (1_u32..4, 0_u64..40, 0_u64..40, 1_u64..12, 1_u64..6);
    let ways = (
        prop::sample::select(&["sequential", "random"][..]),
        prop::sample::select(&PHASES[..]),
        0_u64..1000,
    );
    (sizes, ways).prop_map(
        |((servers, cache, limit, transfers, pages), (order, phases, seed))| Case {
            servers,
            cache,
            limit: limit.min(cache),
            transfers,
            pages,
            order,
            phases,
            seed,
        },
    )
}

fn run_case(case: &Case) -> Outcome {
    let quoted: Vec<String> = case.phases.iter().map(|it| format!("{it:?}")).collect();
    let values = [
        ("servers.count", case.servers.to_string()),
        ("servers.memory.cache", format!("{} B", case.cache * PAGE)),
        (
            "servers.memory.dirty_limit",
            format!("{} B", case.limit * PAGE),
        ),
        ("run.seed", case.seed.to_string()),
    ];
    let mut text = PAGES_OF_16.replace(
        "kind = \"ior\"",
        &format!(
            "block = \"{} B\"\ntransfer = \"{} B\"\norder = {:?}\nphases = [{}]",
            case.transfers * case.pages * PAGE,
            case.pages * PAGE,
            case.order,
            quoted.join(", "),
        ),
    );
    text.push('\n');
    let sets: Vec<String> = values.map(|(name, value)| format!("{name}={value}")).into();
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    run(&text, &sets)
}

/// Bytes that the devices read and wrote.
fn device_bytes(outcome: &Outcome) -> (u64, u64) {
    let picoseconds = busy(outcome, "server/device").round() as u64;
    (picoseconds % 1_000_000, picoseconds / 1_000_000)
}

/// Reference model: the pages a server's device must read with an LRU list of single pages. Only
/// one process asks, so that its requests come one after the other.
struct Servers {
    lists: Vec<Vec<u64>>,
    capacity: usize,
    reads: u64,
}

impl Servers {
    fn request(&mut self, file: u64, first: u64, pages: u64, write: bool) {
        let servers = self.lists.len() as u64;
        for server in 0..servers {
            let wanted: Vec<u64> = (first..first + pages)
                .filter(|page| page % servers == server)
                .map(|page| page + file * 1_000_000)
                .collect();
            let list = &mut self.lists[server as usize];
            let held: Vec<u64> = wanted
                .iter()
                .copied()
                .filter(|page| list.contains(page))
                .collect();
            if !write {
                self.reads += (wanted.len() - held.len()) as u64;
            }
            // Cached pages are used first, pages from the device after them.
            let missing = wanted.iter().copied().filter(|page| !held.contains(page));
            let newest: Vec<u64> = match write {
                true => wanted.clone(),
                false => held.iter().copied().chain(missing).collect(),
            };
            list.retain(|page| !newest.contains(page));
            list.extend(newest);
            let excess = list.len().saturating_sub(self.capacity);
            list.drain(..excess);
        }
    }
}

/// Bytes that the devices must read. The first requests of both clients come at
/// the same time, and either may be the first in the cache.
fn expected_reads(case: &Case, outcome: &Outcome) -> Vec<u64> {
    let mut requests: Vec<_> = outcome.requests.iter().map(|it| it.request).collect();
    requests.sort_by_key(|it| (it.issued, it.process.workload));
    let orders = [0, 1].map(|first| {
        requests.swap(0, first);
        let mut servers = Servers {
            lists: vec![Vec::new(); case.servers as usize],
            capacity: case.cache as usize,
            reads: 0,
        };
        for it in &requests {
            let write = it.operation == Operation::Write;
            let (first, pages) = (it.offset / PAGE, it.size / PAGE);
            servers.request(u64::from(it.file), first, pages, write);
        }
        servers.reads * PAGE
    });
    orders.to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn devices_do_what_the_requests_and_the_cache_leave_to_them(case in cases()) {
        let outcome = run_case(&case);
        let (read, written) = device_bytes(&outcome);
        let expected = expected_reads(&case, &outcome);
        prop_assert!(expected.contains(&read), "{read} instead of {expected:?}");

        let pages = case.transfers * case.pages;
        let times = case.phases.iter().filter(|it| **it == "write").count() as u64;
        // Only data that is overwritten while it waits is spared, and only data
        // that waits at the end is not there yet.
        prop_assert!(written <= times * pages * PAGE);
        if times > 0 {
            let waiting = case.limit * u64::from(case.servers);
            prop_assert!(written + waiting * PAGE >= pages * PAGE);
        }
        if case.limit == 0 {
            prop_assert_eq!(written, times * pages * PAGE);
        }
    }

    /// Requests are exactly those of the workload, each byte once in each phase.
    #[test]
    fn every_byte_is_asked_for_once_in_each_phase(case in cases()) {
        let outcome = run_case(&case);
        for phase in 0..case.phases.len() as u32 {
            let of_phase = outcome.requests.iter().map(|it| it.request);
            let of_phase = of_phase.filter(|it| it.process.workload == 0 && it.phase == phase);
            let bytes: Vec<u64> = of_phase.flat_map(|it| it.offset..it.offset + it.size).collect();
            let distinct: BTreeSet<u64> = bytes.iter().copied().collect();
            prop_assert_eq!(distinct.len(), bytes.len());
            prop_assert_eq!(bytes.len() as u64, case.transfers * case.pages * PAGE);
        }
    }
}
