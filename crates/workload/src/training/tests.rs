//! Known answers worked out by hand, with a device that serves each request in a given time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headrace_spec::{Loading, Scenario, WorkloadKind};
use proptest::prelude::*;

use super::*;

/// Result of a run.
struct Played {
    figures: TrainingFigures,
    end: f64,
    /// Every read: file, offset, bytes.
    reads: Vec<(u32, u64, u64)>,
    writes: u64,
    syncs: u64,
}

/// A training of 10 samples of 1 MB in steps of 100 ms, with some values changed.
fn training(sets: &[&str]) -> Training {
    let text = r#"
        kind = "local"
        [clients]
        count = 1
        [machine]
        memory = { size = "1 GiB" }
        device = { kind = "simple", read_rate = "1 GB/s", write_rate = "1 GB/s" }
        [[workload]]
        kind = "training"
        files = 10
        sample = "1 MB"
        transfer = "1 MB"
        batch = 1
        computation = "100 ms"
        loaders = 1
        prefetch = 1
        skipped_steps = 0
    "#;
    let sets: Vec<String> = sets.iter().map(|set| format!("workload.0.{set}")).collect();
    let loaded = headrace_spec::load(text, std::path::Path::new("m.toml"), &sets).expect("good");
    let Scenario { workload, .. } = loaded.scenario;
    match &workload[0].kind {
        WorkloadKind::Training(training) => training.clone(),
        other => panic!("{other:?}"),
    }
}

/// Plays a training. Each read takes `read` seconds, and any other request none.
fn play(spec: &Training, accelerators: u32, read: f64) -> Played {
    let mut application = TrainingApplication::new(spec, accelerators, 1);
    let mut due: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    for rank in 0..application.processes() {
        due.push(Reverse((0, rank)));
    }
    let mut played = Played {
        figures: application.training().expect("it is one"),
        end: 0.0,
        reads: Vec::new(),
        writes: 0,
        syncs: 0,
    };
    let mut draws = 0;
    let mut random = Random::named(1, "test", &mut draws);
    let (mut finished, mut waiting) = (0, std::collections::HashSet::new());
    while let Some(Reverse((now, rank))) = due.pop() {
        let next = application
            .next(rank, Time(now), &mut random)
            .expect("no trace");
        let mut after = |span: Span| due.push(Reverse((now + span.0, rank)));
        match next {
            Next::Ask(ask) => {
                let reads = ask.operation == Operation::Read;
                if reads {
                    played.reads.push((ask.file, ask.offset, ask.size));
                }
                played.writes += if ask.operation == Operation::Write {
                    ask.size
                } else {
                    0
                };
                played.syncs += u64::from(ask.operation == Operation::Sync);
                after(Span::from_seconds(if reads { read } else { 0.0 }));
            }
            Next::Compute(span) | Next::Pause(span) => after(span),
            Next::Wait => {
                waiting.insert(rank);
            }
            Next::Finished => {
                finished += 1;
                played.end = now as f64 / 1e12;
            }
            Next::Barrier | Next::PhaseOver | Next::Turn => panic!("it has its own meetings"),
        }
        while let Some(rank) = application.woken() {
            assert!(waiting.remove(&rank), "{rank} does not wait");
            due.push(Reverse((now, rank)));
        }
    }
    assert_eq!(finished, application.processes(), "all come to their end");
    played.figures = application.training().expect("it is one");
    played
}

fn near(value: Option<f64>, expected: f64) {
    let value = value.expect("there is one");
    assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
}

#[test]
fn reading_ahead_hides_what_is_shorter_than_a_step() {
    // The first batch takes 40 ms; then each is ready when the step before it ends.
    let played = play(&training(&[]), 1, 0.04);
    assert!((played.end - 1.04).abs() < 1e-9, "{}", played.end);
    near(played.figures.utilisation, 1.0 / 1.04);
    let spent = played.figures.accelerator_time;
    assert!((spent.data - 0.04 / 1.04).abs() < 1e-9, "{spent:?}");
    let loaders = played.figures.loader_time;
    assert!((loaders.reading - 0.4 / 1.04).abs() < 1e-9, "{loaders:?}");
    // DLIO leaves out the first step.
    let played = play(&training(&["skipped_steps=1"]), 1, 0.04);
    near(played.figures.utilisation, 1.0);
}

#[test]
fn slow_reading_is_waited_for() {
    // A loader reads 250 ms a batch, whatever it may read ahead.
    let played = play(&training(&["prefetch=4"]), 1, 0.25);
    assert!((played.end - 2.6).abs() < 1e-9, "{}", played.end);
    near(played.figures.utilisation, 1.0 / 2.6);
    near(played.figures.samples_per_second, 10.0 / 2.6);
    near(played.figures.bytes_per_second, 1e7 / 2.6);
    // Three loaders make their first batches by 250 ms, and every other one in time.
    let played = play(&training(&["loaders=3"]), 1, 0.25);
    assert!((played.end - 1.25).abs() < 1e-9, "{}", played.end);
}

#[test]
fn decoding_takes_a_loader_as_long_as_reading() {
    let played = play(
        &training(&["time_per_sample=50 ms", "time_per_byte=0.1 us"]),
        1,
        0.1,
    );
    // 100 ms to read, 50 ms and 100 ms to decode.
    assert!((played.end - 2.6).abs() < 1e-9, "{}", played.end);
    let loaders = played.figures.loader_time;
    assert!((loaders.decoding - 1.5 / 2.6).abs() < 1e-9, "{loaders:?}");
}

#[test]
fn accelerators_wait_for_the_slowest() {
    let spec = training(&["batch=5", "shuffle=false", "sample_deviation=0 B"]);
    let played = play(&spec, 2, 0.1);
    // Both read for 500 ms, and compute once.
    assert!((played.end - 0.6).abs() < 1e-9, "{}", played.end);
    assert_eq!((played.figures.accelerators, played.figures.steps), (2, 1));
    near(played.figures.utilisation, 0.1 / 0.6);
}

#[test]
fn loaders_of_whole_files_share_a_batch() {
    // Two files of 5 samples are read side by side: 2 samples every 100 ms.
    let spec = training(&[
        "files=2",
        "samples_per_file=5",
        "loading=sample",
        "loaders=2",
        "batch=2",
        "prefetch=2",
    ]);
    let played = play(&spec, 1, 0.1);
    assert_eq!(played.figures.steps, 5);
    assert!((played.end - 0.6).abs() < 1e-9, "{}", played.end);
    let mut offsets: Vec<u64> = played.reads.iter().map(|read| read.1).collect();
    offsets.sort_unstable();
    assert_eq!(offsets[..4], [0, 0, 1_000_000, 1_000_000]);
}

#[test]
fn checkpoints_are_written_in_parts_and_left_out_of_the_utilisation() {
    let spec = training(&[
        "checkpoint=5 MB",
        "checkpoint_steps=2",
        "batch=1",
        "skipped_steps=0",
    ]);
    let played = play(&spec, 2, 0.0);
    // 5 steps, and a checkpoint after the second and the fourth.
    assert_eq!(played.figures.checkpoint.map(|it| it.count), Some(2));
    assert_eq!((played.writes, played.syncs), (10_000_000, 4));
    near(played.figures.utilisation, 1.0);
    let without = play(
        &training(&["checkpoint=5 MB", "checkpoint_sync=false"]),
        1,
        0.0,
    );
    assert_eq!((without.writes, without.syncs), (5_000_000, 0));
}

prop_compose! {
    fn any_training()(
        files in 1..20_u32,
        samples_per_file in 1..7_u32,
        batch in 1..5_u32,
        loaders in 1..5_u32,
        prefetch in 1..5_u32,
        epochs in 1..4_u32,
        by_batch: bool,
        deviation in 0..400_000_u64,
        checkpoint in 0..2_u64,
        checkpoint_steps in 0..4_u32,
        skipped_steps in 0..3_u32,
    ) -> Training {
        let mut spec = training(&[]);
        spec.loading = if by_batch { Loading::Batch } else { Loading::Sample };
        spec.sample_deviation.0 = deviation;
        spec.checkpoint.0 = checkpoint * 3_000_000;
        Training {
            files, samples_per_file, batch, loaders, prefetch, epochs, checkpoint_steps,
            skipped_steps, ..spec
        }
    }
}

proptest! {
    #[test]
    fn every_training_ends_and_its_times_add_up(
        spec in any_training(),
        accelerators in 1..4_u32,
        read in 0.0..0.3_f64,
    ) {
        prop_assume!(spec.steps_of_an_epoch(accelerators) > 0);
        let played = play(&spec, accelerators, read);
        let figures = &played.figures;
        let steps = spec.steps_of_an_epoch(accelerators) * u64::from(spec.epochs);
        prop_assert_eq!(figures.steps as u64, steps);
        // An accelerator computes in every step.
        let computed = figures.accelerator_time.computing * played.end;
        prop_assert!(computed <= steps as f64 * 0.1 + 1e-6);
        let own = figures.accelerator_time;
        let whole = own.computing + own.data + own.others + own.checkpoint;
        prop_assert!((whole - 1.0).abs() < 1e-9);
        let own = figures.loader_time;
        prop_assert!((own.reading + own.decoding + own.idle - 1.0).abs() < 1e-9 || played.end == 0.0);
        if let Some(utilisation) = figures.utilisation {
            prop_assert!((0.0..=1.0 + 1e-9).contains(&utilisation), "{}", utilisation);
        }
        // No sample is read twice in an epoch where batches are the work.
        if spec.loading == Loading::Batch && spec.epochs == 1 {
            let mut reads = played.reads.clone();
            reads.sort_unstable();
            let number = reads.len();
            reads.dedup();
            prop_assert_eq!(number, reads.len());
        }
        let application = TrainingApplication::new(&spec, accelerators, 1);
        let sizes: Vec<u64> = application.existing().iter().map(|file| file.size).collect();
        for (file, offset, size) in &played.reads {
            prop_assert!(offset + size <= sizes[*file as usize]);
        }
    }
}
