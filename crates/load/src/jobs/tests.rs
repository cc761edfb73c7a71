//! Jobs on real files.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::Error;
use crate::directory::Directory;
use crate::skipped::skipped;

fn job() -> Job {
    Job {
        name: "tried".to_owned(),
        file: 0,
        shared: false,
        bytes: 1 << 20,
        block: 4096,
        read_share: 1.0,
        random: true,
        queue_depth: 1,
        processes: 1,
        calls: "posix".to_owned(),
        direct: false,
        stable: false,
        seconds: None,
        repeated: false,
        warm_up: 0.0,
        rate: None,
        sync_every: None,
        sync_at_end: false,
        seed: 7,
    }
}

fn uring(depth: u32) -> Job {
    Job {
        calls: "io-uring".to_owned(),
        queue_depth: depth,
        ..job()
    }
}

fn target() -> (tempfile::TempDir, JobTarget) {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("a directory of its own");
    (below, JobTarget::Directory(Arc::new(directory)))
}

fn made(target: &JobTarget, number: u32, bytes: u64) {
    let layout = Layout {
        number,
        bytes,
        least: 0,
        seconds: None,
        written: true,
        direct: false,
    };
    let size = lay_out(target, layout, &mut |_| ControlFlow::Continue(())).expect("it is made");
    assert_eq!(size, bytes);
}

/// Runs jobs; none if the system has no io_uring.
fn ran(target: &JobTarget, jobs: &[Job]) -> Option<Vec<JobReport>> {
    match run_stage(target, jobs, &mut |_| ControlFlow::Continue(())) {
        Ok(StageOutcome {
            error: Some(Error::Unsuitable(text)),
            ..
        })
        | Err(Error::Unsuitable(text))
            if text.contains("io_uring") =>
        {
            skipped(text);
            None
        }
        outcome => {
            let outcome = outcome.expect("it begins");
            assert!(outcome.error.is_none(), "{:?}", outcome.error);
            Some(outcome.jobs)
        }
    }
}

#[test]
fn a_job_makes_each_of_its_requests_once() {
    let (_below, target) = target();
    made(&target, 0, 1 << 20);
    for job in [job(), uring(1), uring(8), uring(64)] {
        let Some(found) = ran(&target, std::slice::from_ref(&job)) else {
            return;
        };
        let read = &found[0].requests["read"];
        assert_eq!((read.count, read.bytes), (256, 1 << 20));
        assert_eq!(read.latency.common.count, 256);
        assert_eq!(found[0].requests.len(), 1);
        assert!(found[0].in_flight.max <= job.queue_depth as usize);
    }
}

/// Little's law: the sum of all latencies is the mean number of requests in flight times the
/// elapsed time.
#[test]
fn as_many_requests_are_in_flight_as_the_queue_depth_says() {
    let (_below, target) = target();
    made(&target, 0, 32 << 20);
    for depth in [1_u32, 4, 32] {
        let job = Job {
            bytes: 32 << 20,
            ..uring(depth)
        };
        let Some(found) = ran(&target, &[job]) else {
            return;
        };
        let (found, wanted) = (&found[0], f64::from(depth));
        assert_eq!(found.in_flight.max, depth as usize);
        let read = &found.requests["read"];
        let little = read.latency.common.mean.unwrap() * read.count as f64 / read.active_seconds;
        assert!(little <= wanted * 1.01, "{little} of {depth}");
        // How many more depends on the machine: where memory answers, what the process itself
        // computes between two requests takes its part.
        if depth > 1 {
            assert!(found.in_flight.mean > 1.0, "{found:?}");
        }
    }
}

#[test]
fn what_is_written_is_in_the_file_and_no_two_blocks_are_alike() {
    let (_below, target) = target();
    made(&target, 0, 1 << 20);
    let before = contents(&target);
    for job in [job(), uring(16)] {
        let writes = Job {
            read_share: 0.0,
            sync_at_end: true,
            ..job
        };
        let Some(found) = ran(&target, &[writes]) else {
            return;
        };
        assert_eq!(found[0].requests["write"].count, 256);
        assert_eq!(found[0].requests["sync"].count, 1);
        // Throughput is not that of memory: the sync behind the writes counts.
        let (write, sync) = (&found[0].requests["write"], &found[0].requests["sync"]);
        assert!(write.active_seconds >= sync.latency.common.mean.unwrap());
        let now = contents(&target);
        let mut blocks: Vec<&[u8]> = now.chunks(4096).collect();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), 256);
        assert_ne!(now, before);
    }
}

fn contents(target: &JobTarget) -> Vec<u8> {
    std::fs::read(Path::new(&target.called(0))).expect("it can be read")
}

#[test]
fn reads_and_writes_are_mixed_and_synced_after_so_many_writes() {
    let (_below, target) = target();
    made(&target, 0, 4 << 20);
    let job = Job {
        bytes: 4 << 20,
        read_share: 0.7,
        sync_every: Some(10),
        ..uring(4)
    };
    let Some(found) = ran(&target, &[job]) else {
        return;
    };
    let count = |kind| found[0].requests[kind].count;
    assert_eq!(count("read") + count("write"), 1024);
    let share = count("read") as f64 / 1024.0;
    assert!((share - 0.7).abs() < 0.08, "{share}");
    assert!(count("sync").abs_diff(count("write") / 10) <= 1);
}

#[test]
fn a_rate_is_kept_and_latency_counts_from_when_requests_were_due() {
    let (_below, target) = target();
    made(&target, 0, 1 << 20);
    for job in [job(), uring(4)] {
        let job = Job {
            rate: Some(1000.0),
            seconds: Some(0.3),
            repeated: true,
            ..job
        };
        let Some(found) = ran(&target, &[job]) else {
            return;
        };
        let read = &found[0].requests["read"];
        // All due requests were made or are reported.
        assert_eq!(read.count + found[0].not_made, 300);
        let from_intended = read.latency_from_intended.as_ref().expect("it has a rate");
        assert!(from_intended.common.mean >= read.latency.common.mean);
    }
}

#[test]
fn a_job_ends_at_its_time_and_its_warm_up_does_not_count() {
    let (_below, target) = target();
    made(&target, 0, 1 << 20);
    let job = Job {
        seconds: Some(0.2),
        warm_up: 0.2,
        repeated: true,
        ..job()
    };
    let found = ran(&target, &[job]).expect("system calls are always there");
    let read = &found[0].requests["read"];
    assert!(found[0].seconds >= 0.39 && read.active_seconds <= found[0].seconds - 0.19);
    // More than a pass: it began again.
    assert!(read.count > 256);
}

#[test]
fn processes_have_a_file_each_or_one_together() {
    let (_below, target) = target();
    for number in 0..3 {
        made(&target, number, 1 << 20);
    }
    let shared = Job {
        shared: true,
        file: 2,
        processes: 4,
        ..job()
    };
    let own = Job {
        processes: 2,
        random: false,
        ..job()
    };
    let found = ran(&target, &[shared, own]).expect("system calls are always there");
    assert_eq!(found[0].requests["read"].count, 4 * 256);
    assert_eq!(found[1].requests["read"].count, 2 * 256);
}

#[test]
fn what_the_page_cache_answered_is_told() {
    let (_below, target) = target();
    made(&target, 0, 1 << 20);
    let job = Job {
        seconds: Some(0.2),
        repeated: true,
        ..job()
    };
    let found = ran(&target, &[job]).expect("system calls are always there");
    let reads = found[0].reads.as_ref().expect("it read");
    if reads.unknown_bytes > 0 {
        return skipped("the kernel has no cachestat(2), which Linux 6.5 has");
    }
    // The first pass may have come from the device, the others cannot have.
    assert!(
        reads.hit_bytes + (1 << 20) >= reads.asked_bytes,
        "{reads:?}"
    );
    assert!(reads.hit_bytes > 0);
}

#[test]
fn what_fails_ends_the_jobs_and_is_told_with_what_was_done_before() {
    let (_below, target) = target();
    made(&target, 0, 1 << 19);
    for job in [job(), uring(8)] {
        let job = Job {
            random: false,
            ..job
        };
        let outcome = run_stage(&target, &[job], &mut |_| ControlFlow::Continue(()));
        let outcome = outcome.expect("it begins");
        let text = outcome.error.expect("the file is too short").to_string();
        if text.contains("io_uring") {
            return skipped(text);
        }
        assert!(text.contains("0 of 4096 bytes"), "{text}");
        assert!(outcome.jobs[0].requests["read"].count >= 120);
    }
}

#[test]
fn jobs_that_cannot_be_are_refused() {
    let (_below, target) = target();
    let refused = [
        (Job { block: 0, ..job() }, "at least 1"),
        (
            Job {
                block: 2 << 20,
                ..job()
            },
            "no block",
        ),
        (
            Job {
                direct: true,
                block: 1000,
                ..job()
            },
            "multiples of 512",
        ),
        (
            Job {
                queue_depth: 2,
                ..job()
            },
            "posix calls have a queue depth of 1",
        ),
        (
            Job {
                queue_depth: 5000,
                ..uring(1)
            },
            "1 to 4096",
        ),
        (
            Job {
                processes: 0,
                ..job()
            },
            "1 to 4096",
        ),
        (
            Job {
                repeated: true,
                ..job()
            },
            "expected a time",
        ),
        (
            Job {
                rate: Some(0.0),
                ..job()
            },
            "above 0",
        ),
        (
            Job {
                calls: "null".to_owned(),
                ..job()
            },
            "posix or io-uring",
        ),
        (
            Job {
                calls: "libaio".to_owned(),
                ..job()
            },
            "libaio",
        ),
    ];
    for (job, expected) in refused {
        let error = run_stage(&target, &[job], &mut |_| ControlFlow::Continue(()));
        let text = error.expect_err(expected).to_string();
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_file_that_takes_too_long_is_as_large_as_it_has_become() {
    let (_below, target) = target();
    let layout = Layout {
        number: 0,
        bytes: 1 << 40,
        least: 8 << 20,
        seconds: Some(0.0),
        written: true,
        direct: false,
    };
    let size = lay_out(&target, layout, &mut |_| ControlFlow::Continue(()));
    assert_eq!(size.expect("it is made"), 8 << 20);
    assert_eq!(contents(&target).len(), 8 << 20);
}

#[test]
fn what_is_no_block_device_is_no_target() {
    for path in ["/dev/null", "/", "/proc/self/exe"] {
        let error = JobTarget::device(Path::new(path))
            .expect_err(path)
            .to_string();
        assert!(error.contains("block device"), "{error}");
    }
}
