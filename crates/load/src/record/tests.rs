use super::*;

fn done(operation: usize, phase: u32, started: u64, ended: u64) -> Done {
    Done {
        operation,
        workload: 0,
        phase,
        bytes: 10,
        prepared: 1,
        intended: started,
        started,
        ended,
    }
}

#[test]
fn active_time_counts_overlapping_stretches_once() {
    let mut record = Record::new(2, 0, None);
    for one in [
        done(0, 0, 100, 200),
        done(0, 0, 150, 400),
        done(0, 1, 300, 500),
        done(0, 2, 900, 1000),
        done(1, 0, 0, 10_000),
    ] {
        record.add(&one);
    }
    assert_eq!(record.active(&[0]), 400 + 100);
    assert_eq!(record.active(&[1]), 10_000);
    assert_eq!(record.active(&[0, 1]), 10_000);
}

#[test]
fn processes_put_together_are_one_that_did_it_all() {
    let all = [
        done(0, 0, 0, 5_000_000),
        done(1, 0, 5_000_000, 20_000_000_000),
        done(0, 1, 7_000_000, 9_000_000),
        done(1, 1, 60_000_000_000, 61_000_000_000),
    ];
    let mut one = Record::new(2, 0, None);
    all.iter().for_each(|it| one.add(it));
    let mut merged = Record::new(2, 0, None);
    for part in all.chunks(1).rev() {
        let mut process = Record::new(2, 0, None);
        part.iter().for_each(|it| process.add(it));
        merged.merge(&process);
    }
    for operation in 0..2 {
        let (one_cell, merged_cell) = (&one.cells[operation], &merged.cells[operation]);
        let (one_cell, merged_cell) = (
            one_cell.as_ref().expect("it"),
            merged_cell.as_ref().expect("it"),
        );
        assert_eq!(one_cell.count, merged_cell.count);
        assert_eq!(one_cell.bytes, merged_cell.bytes);
        assert_eq!(one_cell.service, merged_cell.service);
        assert_eq!(one.active(&[operation]), merged.active(&[operation]));
        assert_eq!(one.windows.of(operation), merged.windows.of(operation));
    }
    assert_eq!(one.windows.length(), merged.windows.length());
}

#[test]
fn nothing_is_lost_when_windows_double() {
    let mut record = Record::new(1, 0, None);
    for number in 0..10_000_u64 {
        record.add(&done(0, 0, number * 50_000_000, number * 50_000_000 + 7));
    }
    let windows = record.windows.of(0);
    assert!(windows.len() <= 256, "{}", windows.len());
    assert_eq!(windows.iter().map(|it| it.count).sum::<u64>(), 10_000);
    assert_eq!(windows.iter().map(|it| it.bytes).sum::<u64>(), 100_000);
    assert!(windows.iter().all(|it| it.longest <= 7));
}

#[test]
fn what_ends_within_the_warm_up_is_not_counted() {
    let mut record = Record::new(1, 1000, None);
    record.add(&done(0, 0, 100, 900));
    record.add(&done(0, 0, 900, 1100));
    let cell = record.cells[0].as_ref().expect("one counts");
    assert_eq!(cell.count, 1);
    assert_eq!(record.active(&[0]), 100);
}
