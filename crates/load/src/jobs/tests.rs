//! Jobs on real files.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::Error;
use crate::directory::Directory;
use crate::jobs::job::{Access, FileOrder, JobContent, Pace, Work};
use crate::skipped::skipped;

fn job() -> Job {
    Job {
        name: "tried".to_owned(),
        bytes: 1 << 20,
        access: Access {
            random: true,
            ..Access::default()
        },
        seed: 7,
        ..Job::default()
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
        filled: Filled::Written,
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
            pace: Pace {
                requests: [Some(1000.0), None],
                ..Pace::default()
            },
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
        access: Access::default(),
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
            access: Access::default(),
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
                pace: Pace {
                    bytes: [None, Some(0.0)],
                    ..Pace::default()
                },
                ..job()
            },
            "above 0",
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
        filled: Filled::Written,
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

#[test]
fn all_ways_move_the_same_bytes() {
    for calls in [
        "posix",
        "posix-seek",
        "posix-seek-vector",
        "posix-vector",
        "mapped",
        "io-uring",
    ] {
        let (_below, target) = target();
        made(&target, 0, 1 << 20);
        let content = JobContent {
            verify: true,
            ..JobContent::default()
        };
        let writes = Job {
            calls: calls.to_owned(),
            read_share: 0.0,
            content: content.clone(),
            sync_data_every: Some(100),
            sync_at_end: true,
            ..job()
        };
        let Some(done) = ran(&target, std::slice::from_ref(&writes)) else {
            continue;
        };
        let count = |kind| done[0].requests[kind].count;
        assert_eq!((count("write"), count("sync")), (256, 3), "{calls}");
        let reads = Job {
            read_share: 1.0,
            ..writes
        };
        let done = ran(&target, &[reads]).expect("it is there");
        assert_eq!(done[0].requests["read"].bytes, 1 << 20, "{calls}");
    }
}

#[test]
fn what_is_not_as_it_was_written_is_an_error() {
    for pattern in [Vec::new(), vec![0xde, 0xad, 0xbe]] {
        let (_below, target) = target();
        made(&target, 0, 1 << 20);
        let content = JobContent {
            pattern,
            verify: true,
            read_back: true,
            ..JobContent::default()
        };
        let writes = Job {
            read_share: 0.0,
            content,
            ..job()
        };
        let done = ran(&target, std::slice::from_ref(&writes)).expect("system calls");
        let count = |kind| done[0].requests[kind].count;
        assert_eq!((count("write"), count("read")), (256, 256));
        let mut bytes = contents(&target);
        bytes[70_000] ^= 1;
        std::fs::write(target.called(0), bytes).expect("it can be written");
        let reads = Job {
            read_share: 1.0,
            ..writes
        };
        let outcome = run_stage(&target, &[reads], &mut |_| ControlFlow::Continue(()));
        let text = outcome.expect("it begins").error.expect("it differs");
        assert!(text.to_string().contains("byte 70000 is"), "{text}");
    }
}

#[test]
fn names_are_created_looked_up_and_removed() {
    let (_below, target) = target();
    let works = [
        (Work::Create, "create"),
        (Work::Stat, "stat"),
        (Work::Unlink, "unlink"),
        (Work::Mkdir, "mkdir"),
        (Work::Stat, "stat"),
        (Work::Rmdir, "rmdir"),
    ];
    for (work, word) in works {
        let job = Job {
            work,
            files: 10,
            processes: 3,
            ..job()
        };
        let done = ran(&target, &[job]).expect("system calls");
        assert_eq!(done[0].requests[word].count, 30);
    }
    let left = Path::new(&target.called(0)).parent().map(std::fs::read_dir);
    let names = left.expect("a directory").expect("it can be read");
    let left = names
        .flatten()
        .filter(|it| it.file_name().to_string_lossy().contains("hr-f"));
    assert_eq!(left.count(), 0);
}

#[test]
fn files_are_created_truncated_and_allocated() {
    let (_below, target) = target();
    let size = |target: &JobTarget| std::fs::metadata(target.called(0)).expect("there").len();
    let job = Job {
        creates: true,
        read_share: 0.0,
        access: Access::default(),
        ..job()
    };
    let works = [
        (Work::Allocate, "write", 1 << 20),
        (Work::Truncate, "truncate", (1 << 20) - 4096),
    ];
    for (work, word, expected) in works {
        let job = Job {
            work,
            ..job.clone()
        };
        let done = ran(&target, &[job]).expect("system calls");
        assert_eq!(
            (done[0].requests[word].count, size(&target)),
            (256, expected)
        );
    }
}

#[test]
fn many_files_are_used_in_their_order() {
    let (_below, target) = target();
    let files = 300;
    for order in [
        FileOrder::RoundRobin,
        FileOrder::Sequential,
        FileOrder::Random,
    ] {
        let job = Job {
            creates: true,
            read_share: 0.0,
            files,
            file_order: (order, 2),
            bytes: 16384,
            passes: 2,
            most: Some(2000),
            ..job()
        };
        let done = ran(&target, &[job]).expect("system calls");
        // Two passes would be 2,400.
        assert_eq!(done[0].requests["write"].count, 2000);
        for file in 0..files {
            let length = std::fs::metadata(target.called(file)).expect("there").len();
            assert_eq!(length, 16384);
        }
    }
}

#[test]
fn requests_are_handed_over_and_awaited_together() {
    let (_below, target) = target();
    made(&target, 0, 1 << 20);
    let mut job = uring(16);
    job.batches = crate::jobs::job::Batches {
        submit: 8,
        complete: 4,
        low: 2,
    };
    let Some(done) = ran(&target, &[job]) else {
        return;
    };
    assert_eq!(done[0].requests["read"].count, 256);
    assert_eq!(done[0].in_flight.max, 16);
}

#[test]
fn a_job_awaits_another_and_ends_all() {
    let (_below, target) = target();
    made(&target, 0, 1 << 20);
    let first = Job {
        name: "first".to_owned(),
        shared: true,
        processes: 2,
        pace: Pace {
            delay: (0.05, 0.05),
            think: Some((0.001, 0.0005, 100)),
            ..Pace::default()
        },
        log: true,
        ..job()
    };
    let second = Job {
        name: "second".to_owned(),
        after: Some("first".to_owned()),
        ends_all: true,
        log: true,
        ..job()
    };
    let endless = Job {
        name: "endless".to_owned(),
        repeated: true,
        seconds: Some(1000.0),
        ..job()
    };
    let computes = Job {
        name: "computes".to_owned(),
        work: Work::Compute,
        compute: Some((0.1, 0.001)),
        seconds: Some(1000.0),
        ..job()
    };
    let done = ran(&target, &[first, second, endless, computes]).expect("system calls");
    assert_eq!(done[0].logs.iter().map(Vec::len).sum::<usize>(), 512);
    assert_eq!(done[1].requests["read"].count, 256);
    let last = done[0].logs.iter().flatten().map(|it| it.0).max();
    let first = done[1].logs[0].iter().map(|it| it.0 - it.1).min();
    assert!(first > last, "{first:?} {last:?}");
    assert!(
        done[0]
            .logs
            .iter()
            .flatten()
            .all(|it| it.0 - it.1 >= 50_000_000)
    );
    assert!(done[3].requests.is_empty());
    let missing = Job {
        after: Some("missing".to_owned()),
        ..job()
    };
    let error = run_stage(&target, &[missing], &mut |_| ControlFlow::Continue(()));
    assert!(
        error
            .expect_err("no such job")
            .to_string()
            .contains("missing")
    );
}

/// With parts of 3 and 1, the first has made three times as many requests when it ends.
#[test]
fn jobs_keep_their_parts_of_a_group() {
    let (_below, target) = target();
    made(&target, 0, 1 << 20);
    let part = |name: &str, weight: f64| Job {
        name: name.to_owned(),
        calls: "null".to_owned(),
        pace: Pace {
            flow: Some((1, weight)),
            ..Pace::default()
        },
        ..job()
    };
    let first = Job {
        most: Some(240),
        repeated: true,
        seconds: Some(1000.0),
        ends_all: true,
        ..part("first", 3.0)
    };
    let second = Job {
        repeated: true,
        seconds: Some(1000.0),
        log: true,
        ..part("second", 1.0)
    };
    let done = ran(&target, &[first, second]).expect("system calls");
    let counts = [0, 1].map(|job: usize| done[job].requests["read"].count);
    assert_eq!(counts[0], 240);
    assert!(counts[1] >= 79, "{counts:?}");
}

/// Each of three passes reads the file from the device again, and none from the page cache.
#[test]
fn files_leave_the_page_cache_before_each_pass() {
    let (_below, target) = target();
    made(&target, 0, 1 << 20);
    for (cold_again, repeated) in [(true, false), (false, false), (true, true)] {
        let job = Job {
            access: Access::default(),
            advice: crate::jobs::job::PageAdvice::Sequential,
            cold_again,
            passes: 3,
            repeated,
            seconds: Some(1000.0),
            most: Some(3 * 256),
            ..job()
        };
        let done = ran(&target, &[job]).expect("system calls");
        let reads = done[0].reads.as_ref().expect("it read");
        assert_eq!(reads.asked_bytes, 3 << 20);
        if reads.unknown_bytes > 0 {
            return skipped("the kernel has no cachestat(2), which Linux 6.5 has");
        }
        let missed = done[0]
            .reads
            .as_ref()
            .map(|it| it.asked_bytes - it.hit_bytes);
        let bytes = missed.expect("it read");
        // The second pass of a file that stays is answered by the cache.
        assert_eq!(bytes > (2 << 20), cold_again, "{bytes}");
    }
}
