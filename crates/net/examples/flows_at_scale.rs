//! The cost of max-min fair flows: clients on leaf switches write to targets of
//! servers through a core, one flow after the other.
//!
//! `cargo run --release -p headrace-net --example flows_at_scale [CLIENTS [CORE_GB_PER_SECOND [INTERVAL_MS]]]`

use std::time::Instant;

use headrace_net::{Builder, Flows, Limits, Span};

const LEAF: u32 = 48;
const SERVERS: u32 = 192;
const TARGETS: u32 = 1344;
const FLOWS: u32 = 4;

/// A client's flow: which of its flows it is.
#[derive(Clone, Copy)]
struct Write {
    client: u32,
    number: u32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let clients: u32 = arguments.next().map_or(Ok(26_000), |it| it.parse())?;
    let core: f64 = arguments.next().map_or(Ok(1000.0), |it| it.parse())?;
    let interval: u64 = arguments.next().map_or(Ok(0), |it| it.parse())?;
    let leaves = clients.div_ceil(LEAF);
    let mut rates = vec![2e9; clients as usize];
    rates.extend(vec![20e9; leaves as usize]);
    rates.push(core * 1e9);
    rates.extend(vec![1.5e9; SERVERS as usize]);
    rates.extend(vec![180e6; TARGETS as usize]);

    let mut builder = Builder::new("scale", 1);
    let mut page = builder.root();
    let new = page.place("new");
    page.tokens(new, move |_| {
        (0..clients).map(|client| Write { client, number: 0 })
    });
    let flows = page.station(
        "network",
        Flows::new(rates, move |write: &Write, path: &mut Vec<u32>| {
            let key = u64::from(write.client) * u64::from(FLOWS) + u64::from(write.number);
            let target = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as u32 % TARGETS;
            let (leaf, core) = (clients + write.client / LEAF, clients + leaves);
            let server = core + 1 + target % SERVERS;
            path.extend([
                write.client,
                leaf,
                core,
                server,
                core + 1 + SERVERS + target,
            ]);
            256e6
        })
        .every(Span::from_millis(interval)),
    );
    page.connect(new, flows);
    page.transition("next")
        .take(flows)
        .may_put(new)
        .fires(move |firing, mut write: Write, ()| {
            write.number += 1;
            if write.number < FLOWS {
                firing.put(new, write);
            }
        });
    let mut net = builder.compile()?;
    let start = Instant::now();
    net.run(&Limits::default())?;
    println!(
        "{clients} clients, core {core} GB/s: {} flows, {:.2} s simulated, {:.2} s wall, {:.1} MB in the net",
        clients * FLOWS,
        net.now().as_seconds(),
        start.elapsed().as_secs_f64(),
        net.memory().0 as f64 / 1e6,
    );
    Ok(())
}
