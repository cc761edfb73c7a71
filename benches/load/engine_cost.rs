//! What the load engine costs an operation: reads of 4 KiB from a cached file by the engine,
//! by system calls and without any, beside a bare loop of pread(2). All take turns, so that
//! whatever else the machine does disturbs them alike; medians and quartiles are printed.
//!
//! ```text
//! cargo run --release -p headrace-load --example engine_cost [DIR] [ROUNDS]
//! ```

use std::error::Error;
use std::fs::File;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use headrace_load::{Backend, Directory, Options, operation};

const READS: u64 = 200_000;
const SIZE: u64 = 4096;
const BLOCK: u64 = 1024;

/// Nanoseconds that an operation takes: in all, and of that in the call.
type Taken = (f64, f64);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let below = arguments.next().unwrap_or_else(|| "/tmp".to_owned());
    let rounds: usize = arguments.next().map_or(Ok(11), |text| text.parse())?;
    let below = Path::new(&below);
    let mut taken: [Vec<Taken>; 4] = Default::default();
    for _ in 0..rounds {
        taken[0].push(bare(below)?);
        taken[1].push(engine(below, Backend::Posix)?);
        taken[2].push(engine(below, Backend::Null)?);
        if let Ok(uring) = engine(below, Backend::Uring) {
            taken[3].push(uring);
        }
    }
    println!("{READS} reads of 4 KiB from a cached file, {rounds} rounds; ns an operation");
    println!("{:<34} {:>8} {:>8} {:>8}", "", "median", "25 %", "75 %");
    for (name, taken) in ["bare", "posix", "null", "io-uring"].iter().zip(&taken) {
        row(&format!("{name}, in all"), taken.iter().map(|it| it.0));
        row(&format!("{name}, timed"), taken.iter().map(|it| it.1));
    }
    let over = |part: fn(&Taken) -> f64| {
        let pairs = taken[1].iter().zip(&taken[0]);
        pairs
            .map(|(posix, bare)| part(posix) - part(bare))
            .collect::<Vec<f64>>()
    };
    row("posix over bare, in all", over(|it| it.0).into_iter());
    row("posix over bare, timed", over(|it| it.1).into_iter());
    Ok(())
}

fn row(name: &str, values: impl Iterator<Item = f64>) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |part: usize| values.get((values.len() * part / 4).min(values.len().max(1) - 1));
    if let (Some(low), Some(median), Some(high)) = (at(1), at(2), at(3)) {
        println!("{name:<34} {median:>8.0} {low:>8.0} {high:>8.0}");
    }
}

/// A loop that does nothing else.
fn bare(below: &Path) -> Result<Taken, Box<dyn Error>> {
    let path = below.join(format!("headrace-cost-{}", std::process::id()));
    std::fs::write(&path, vec![1; (SIZE * BLOCK) as usize])?;
    let file = File::open(&path)?;
    std::fs::remove_file(&path)?;
    let mut buffer = vec![0; SIZE as usize];
    let began = Instant::now();
    for number in 0..READS {
        file.read_exact_at(&mut buffer, number % BLOCK * SIZE)?;
    }
    let each = began.elapsed().as_nanos() as f64 / READS as f64;
    Ok((each, each))
}

/// The engine, doing the same.
fn engine(below: &Path, calls: Backend) -> Result<Taken, Box<dyn Error>> {
    let text = format!(
        r#"
        clients = {{ count = 1 }}
        [[workload]]
        block = "4 MiB"
        transfer = "4 KiB"
        phases = ["read"]
        repeat = "forever"
        io = {{ cached = true }}
        [run.stop]
        requests = {READS}
        "#
    );
    let scenario = headrace_spec::load_measured(&text, Path::new("cost.toml"), &[])?.scenario;
    let directory = Directory::make(below)?;
    let watch = &mut |_: &headrace_load::LiveProgress| ControlFlow::Continue(());
    let options = Options {
        calls,
        ..Options::default()
    };
    let outcome = headrace_load::run(&scenario, &directory, options, watch);
    directory.remove()?;
    let outcome = outcome?;
    let number = operation::number("read").ok_or("no read")?;
    let cell = outcome.record.cells[number]
        .as_ref()
        .ok_or("nothing read")?;
    let each = outcome.lasted as f64 / cell.count as f64;
    let mean = cell.service.mean().ok_or("nothing read")?;
    Ok((each, mean))
}
