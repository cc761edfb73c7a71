//! Offsets of a replayed trace, mapped onto less space than its files have.
//!
//! An offset becomes its remainder by the space, as in other replayers of block traces. A request
//! that would reach beyond the end lies at the end. So requests keep their sizes, and neighbours
//! stay neighbours; places that are a multiple of the space apart become one place.

use headrace_spec::TraceReplay;
use headrace_trace::{Flags, Operation, Record};

use super::{LeftOut, TraceError};

/// The source of a changed offset, as the result names it.
const BY: &str = "workload.space";
const MAPPED: &str = "offset beyond the space: mapped to its remainder by the space";
const CUT: &str = "length beyond the space: cut to the space";

/// The space of each file of a trace, and the records that had to be mapped.
pub struct OffsetSpace {
    bytes: Option<u64>,
    mapped: Vec<LeftOut>,
}

impl OffsetSpace {
    /// The space of a replay; without one, offsets stay.
    #[must_use]
    pub fn new(spec: &TraceReplay) -> OffsetSpace {
        OffsetSpace {
            bytes: spec.space.map(|it| it.0),
            mapped: Vec::new(),
        }
    }

    /// Maps the range of a record.
    ///
    /// # Errors
    /// If a single request is larger than the space.
    pub fn map(&mut self, spec: &TraceReplay, record: &mut Record) -> Result<(), TraceError> {
        let Some(space) = self.bytes else {
            return Ok(());
        };
        let (before, reason) = (
            *record,
            match record.operation {
                Operation::Truncate | Operation::Stat => CUT,
                _ => MAPPED,
            },
        );
        match record.operation {
            Operation::Read | Operation::Write | Operation::Allocate | Operation::Sync => {
                if record.size > space {
                    return Err(TraceError::SpaceTooSmall {
                        file: spec.file.clone(),
                        space,
                        size: record.size,
                    });
                }
                record.offset = match record.end() > space {
                    true => (record.offset % space).min(space - record.size),
                    false => record.offset,
                };
            }
            Operation::Seek if record.offset > space => record.offset %= space,
            Operation::Truncate => record.offset = record.offset.min(space),
            Operation::Stat if record.flags.has(Flags::REGULAR) => {
                record.size = record.size.min(space);
            }
            _ => {}
        }
        if *record != before {
            LeftOut::new(BY, record.operation.name(), reason, 1).add(&mut self.mapped);
        }
        Ok(())
    }

    /// The records that were mapped, by operation.
    #[must_use]
    pub fn mapped(self) -> Vec<LeftOut> {
        self.mapped
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use headrace_spec::{Bytes, Gaps, RecordFlags, Replay, Seconds};
    use proptest::prelude::*;

    use super::*;

    fn spec(space: u64) -> TraceReplay {
        TraceReplay {
            file: PathBuf::from("t"),
            replay: Replay::Closed,
            shift: Seconds(0.0),
            gaps: Gaps::Wait,
            scale: 1.0,
            space: Some(Bytes(space)),
            flags: RecordFlags::Kept,
            output_volume: None,
        }
    }

    fn read(offset: u64, size: u64) -> Record {
        Record {
            time_ns: 0,
            duration_ns: 0,
            offset,
            size,
            process: 0,
            file: 0,
            operation: Operation::Read,
            flags: Flags::NONE,
            other: Record::NO_FILE,
        }
    }

    /// By hand, in a space of 1 MiB.
    #[test]
    fn offsets_beyond_the_space_become_remainders() {
        let spec = spec(1 << 20);
        let mut space = OffsetSpace::new(&spec);
        for (offset, size, expected) in [
            (0, 4096, 0),
            (1_044_480, 4096, 1_044_480),
            (1 << 20, 4096, 0),
            ((1 << 30) + 8192, 4096, 8192),
            // 4 KiB of it lie beyond the end.
            ((1 << 20) - 4096, 8192, (1 << 20) - 8192),
        ] {
            let mut record = read(offset, size);
            space.map(&spec, &mut record).unwrap();
            assert_eq!((record.offset, record.size), (expected, size), "{offset}");
        }
        let mapped = space.mapped();
        assert_eq!(mapped.len(), 1);
        assert_eq!(
            (mapped[0].by.as_str(), mapped[0].count),
            ("workload.space", 3)
        );
    }

    #[test]
    fn a_request_larger_than_the_space_is_an_error() {
        let spec = spec(4096);
        let error = OffsetSpace::new(&spec).map(&spec, &mut read(0, 8192));
        let text = error.unwrap_err().to_string();
        assert_eq!(
            text,
            "t: workload.space = 4096 bytes: the trace has a request of 8192 bytes; expected at \
             least that"
        );
    }

    proptest! {
        #[test]
        fn requests_lie_in_the_space_and_stay_aligned(
            offset in 0..u64::MAX / 4096, size in 1..256_u64, space in 256..100_000_u64,
        ) {
            let spec = spec(space * 4096);
            let mut record = read(offset * 4096, size * 4096);
            OffsetSpace::new(&spec).map(&spec, &mut record).unwrap();
            prop_assert!(record.end() <= space * 4096);
            prop_assert_eq!(record.offset % 4096, 0);
            prop_assert_eq!(record.size, size * 4096);
        }
    }
}
