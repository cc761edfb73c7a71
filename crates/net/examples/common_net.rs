//! The common net: 64 clients think for 5 ms (exponential), choose one of four
//! stations at random and are served there for 1 ms (deterministic).
//!
//! ```text
//!   (thinking) ─▶ [choose] ─▶ server ×4: (disk) ─▶ [back] ─▶ (thinking)
//! ```
//!
//! `cargo run --release -p headrace-net --example common_net [seconds] [clients] [servers]`

use std::time::Instant;

use headrace_net::{BuildErrors, Builder, Exponential, Fcfs, Infinite, Limits, Net, Node, Span};

/// A client and the server it has chosen.
#[derive(Clone, Copy)]
struct Client {
    server: u32,
}

fn common_net(clients: u32, servers: u32, seed: u64) -> Result<(Net, Node<Client>), BuildErrors> {
    let mut builder = Builder::new("common", seed);
    let mut page = builder.root();
    let thinking = page.station("thinking", Infinite(Exponential(Span::from_millis(5))));
    let (disk, done) = page.fold("server", servers, |page| {
        let done = page.output::<Client>("done");
        let disk = page.station("disk", Fcfs::new(1, Span::from_millis(1)));
        page.transition("back")
            .take(disk)
            .put(done, |_, client, ()| client);
        (disk, done)
    });
    page.connect(done, thinking);
    page.transition("choose").take(thinking).put(
        disk.by(|client: &Client| client.server),
        move |firing, _, ()| Client {
            server: firing.random().below(u64::from(servers)) as u32,
        },
    );
    page.tokens(thinking, move |_| {
        (0..clients).map(|_| Client { server: 0 })
    });
    page.conserve(thinking);
    Ok((builder.compile()?, disk))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = |index: usize, default: f64| -> f64 {
        std::env::args()
            .nth(index)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let seconds = argument(1, 1000.0);
    let (mut net, disk) = common_net(argument(2, 64.0) as u32, argument(3, 4.0) as u32, 1)?;
    let start = Instant::now();
    net.run(&Limits::until_seconds(seconds))?;
    let wall = start.elapsed().as_secs_f64();
    net.check_invariants()?;
    let report = net.node_report(disk);
    let (bytes, tokens) = net.memory();
    println!(
        "{:.4} requests/ms, utilisation {:.4}, {} firings and {} events in {wall:.3} s: {:.2} million firings/s, {:.0} bytes a token",
        report.arrivals as f64 / net.measured().as_seconds() / 1000.0,
        report.utilisation,
        net.firings(),
        net.events(),
        net.firings() as f64 / wall / 1e6,
        bytes as f64 / tokens as f64,
    );
    for invariant in net.invariants() {
        println!("{} = {}", invariant.sum, invariant.value);
    }
    Ok(())
}
