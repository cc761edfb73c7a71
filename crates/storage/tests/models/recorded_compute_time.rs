//! Closed replay with the recorded compute time between calls.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use headrace_storage::Outcome;

use crate::running::{close, run};

/// A trace of one process: a hundred reads of 10 ms with 5 ms of computation after each, and 1 ms
/// before the first.
fn trace() -> &'static Path {
    static TRACE: LazyLock<PathBuf> = LazyLock::new(|| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded-compute-time.csv");
        std::fs::write(&file, text_of_trace()).unwrap();
        file
    });
    &TRACE
}

fn text_of_trace() -> String {
    let mut text = "time,process,operation,file,offset,size,duration\n".to_owned();
    for number in 0..100 {
        let time = 0.001 + f64::from(number) * 0.015;
        writeln!(text, "{time:.6},a,read,/f,{},4096,0.010", number * 4096).unwrap();
    }
    text
}

/// A system on which each read takes so long.
fn replayed(time_per_request: &str, sets: &[&str]) -> Outcome {
    let file = trace();
    let text = format!(
        r#"
        [clients]
        count = 1
        [servers]
        count = 1
        device = {{ read_rate = "1000 TB/s", write_rate = "1000 TB/s", time_per_request = {time_per_request:?} }}
        [network]
        bandwidth = "1000 TB/s"
        latency = "0 s"
        [layout]
        unit = "1 GiB"
        [[workload]]
        kind = "trace"
        replay = "paced"
        file = {:?}
        "#,
        file
    );
    run(&text, sets)
}

const RECORDED: f64 = 0.001 + 100.0 * 0.010 + 99.0 * 0.005;

#[test]
fn a_replay_on_the_recorded_system_takes_the_recorded_time() {
    close(
        replayed("10 ms", &[]).report.simulated_seconds,
        RECORDED,
        1e-6,
    );
}

#[test]
fn on_a_system_twice_as_fast_the_compute_time_stays() {
    let faster = replayed("5 ms", &[]).report.simulated_seconds;
    close(faster, RECORDED - 100.0 * 0.005, 1e-6);
    // A faster processor is a scale of the gaps.
    let both = replayed("5 ms", &["workload.0.scale=0.5"])
        .report
        .simulated_seconds;
    close(both, RECORDED / 2.0, 1e-6);
}

/// Without the gaps it is the calls alone, and at the recorded times the recorded end.
#[test]
fn the_other_replays_keep_less_or_more() {
    let closed = replayed("5 ms", &["workload.0.replay=closed"]);
    close(closed.report.simulated_seconds, 100.0 * 0.005, 1e-6);
    let timed = replayed("5 ms", &["workload.0.replay=timed"]);
    close(timed.report.simulated_seconds, RECORDED - 0.005, 1e-6);
}

/// A start and pauses come on top of the recorded times.
#[test]
fn start_and_delay_are_added() {
    let outcome = replayed("10 ms", &["workload.0.start=1 s", "workload.0.delay=1 ms"]);
    close(
        outcome.report.simulated_seconds,
        RECORDED + 1.0 + 99.0 * 0.001,
        1e-6,
    );
}
