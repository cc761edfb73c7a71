//! The pattern of the mdtest benchmark: each process does one thing with all of
//! its files, then the next with all of them. It closes each file that it has made and
//! written before it makes the next (mdtest.c: create_file).
//!
//! Not modelled: a tree of directories (mdtest's depth and branching factor); opening and
//! closing the files that are read.

use headrace_net::{Random, Span, Time};
use headrace_spec::{Directory, Mdtest, NamePhase};
use headrace_trace::Operation;

use super::{Application, Ask, Next};
use crate::permutation::Permutation;

/// An mdtest-like workload.
#[derive(Debug)]
pub struct MdtestApplication {
    spec: Mdtest,
    processes: u32,
    seed: u64,
    /// Phase, file, and what is to be done with the file, of each process.
    progress: Vec<(u32, u32, Step)>,
}

/// Step on a file in a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// The operation of the phase.
    First,
    /// It has been made: its bytes are to be written.
    Write,
    /// It has been made, and written if it has any bytes.
    Close,
}

impl MdtestApplication {
    /// The workload for `processes` processes.
    pub fn new(spec: &Mdtest, processes: u32, seed: u64) -> MdtestApplication {
        MdtestApplication {
            spec: spec.clone(),
            processes,
            seed,
            progress: vec![(0, 0, Step::First); processes as usize],
        }
    }

    /// The file that a process comes to in a phase, among its own.
    fn file_at(&self, rank: u32, phase: u32, place: u32) -> u32 {
        if !self.spec.random {
            return place;
        }
        let key = self.seed ^ (u64::from(rank) << 32) ^ u64::from(phase);
        let files = Permutation::new(u64::from(self.spec.files), key);
        files.at(u64::from(place)) as u32
    }
}

fn operation(phase: NamePhase) -> Operation {
    match phase {
        NamePhase::Create => Operation::Create,
        NamePhase::Read => Operation::Read,
        NamePhase::Stat => Operation::Stat,
        NamePhase::Unlink => Operation::Unlink,
        NamePhase::Mkdir => Operation::Mkdir,
        NamePhase::Rmdir => Operation::Rmdir,
        NamePhase::Rename => Operation::Rename,
        NamePhase::Readdir => Operation::Readdir,
    }
}

impl Application for MdtestApplication {
    fn processes(&self) -> u32 {
        self.processes
    }

    fn files(&self) -> u32 {
        self.spec.files.saturating_mul(self.processes)
    }

    fn files_in_a_directory(&self) -> Option<u32> {
        match self.spec.directory {
            Directory::Shared => None,
            Directory::Own => Some(self.spec.files),
        }
    }

    fn closes_what_it_makes(&self) -> bool {
        true
    }

    fn next(&mut self, rank: u32, _: Time, _: &mut Random<'_>) -> Result<Next, String> {
        let (phase, file, step) = self.progress[rank as usize];
        let Some(&what) = self.spec.phases.get(phase as usize) else {
            return Ok(Next::Finished);
        };
        if file == self.spec.files {
            self.progress[rank as usize] = (phase + 1, 0, Step::First);
            let last = phase as usize + 1 == self.spec.phases.len();
            return Ok(if last { Next::Finished } else { Next::Barrier });
        }
        let bytes = self.spec.bytes.of(rank.into()).0;
        self.progress[rank as usize] = match (what, step) {
            (NamePhase::Create, Step::First) if bytes > 0 => (phase, file, Step::Write),
            (NamePhase::Create, Step::First | Step::Write) => (phase, file, Step::Close),
            _ => (phase, file + 1, Step::First),
        };
        // A file is made, written and closed without a pause.
        let after = match (phase, file, step) {
            (0, 0, _) | (_, _, Step::Write | Step::Close) => Span::ZERO,
            _ => Span::from_seconds(self.spec.think.0),
        };
        let (operation, size) = match (step, what) {
            (Step::Write, _) => (Operation::Write, bytes),
            (Step::Close, _) => (Operation::Close, 0),
            (Step::First, NamePhase::Read) => (Operation::Read, bytes),
            (Step::First, other) => (operation(other), 0),
        };
        Ok(Next::Ask(Ask {
            operation,
            call: None,
            file: rank * self.spec.files + self.file_at(rank, phase, file),
            offset: 0,
            size,
            after,
            compute: Span::ZERO,
            intended: None,
            phase,
        }))
    }

    fn total_requests(&self) -> Option<u64> {
        let phases = self.spec.phases.iter();
        let phases: u64 = phases
            .map(|phase| match *phase {
                NamePhase::Create => 2 + u64::from(self.spec.has_bytes()),
                _ => 1,
            })
            .sum();
        let files = u64::from(self.spec.files) * u64::from(self.processes);
        phases.checked_mul(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_spec::{Bytes, Seconds};

    #[test]
    fn each_file_is_made_looked_up_and_removed_once() {
        let spec = Mdtest {
            files: 3,
            phases: vec![NamePhase::Create, NamePhase::Stat, NamePhase::Unlink],
            bytes: Bytes(0).into(),
            think: Seconds(0.0),
            directory: Directory::Shared,
            random: false,
        };
        let mut application = MdtestApplication::new(&spec, 2, 1);
        let mut counter = 0;
        let mut random = Random::named(1, "mdtest", &mut counter);
        let mut seen = Vec::new();
        for rank in 0..2 {
            loop {
                match application.next(rank, Time::ZERO, &mut random) {
                    Ok(Next::Ask(ask)) => seen.push((ask.operation.name(), ask.file)),
                    Ok(Next::Barrier) => seen.push(("barrier", rank)),
                    _ => break,
                }
            }
        }
        let of = |name, first: u32| (first..first + 3).map(move |file| (name, file));
        let expected: Vec<_> = (0..2)
            .flat_map(|rank: u32| {
                let first = rank * 3;
                (first..first + 3)
                    .flat_map(|file| [("create", file), ("close", file)])
                    .chain([("barrier", rank)])
                    .chain(of("stat", first))
                    .chain([("barrier", rank)])
                    .chain(of("unlink", first))
            })
            .collect();
        assert_eq!(seen, expected);
        assert_eq!(application.total_requests(), Some(24));
    }

    #[test]
    fn bytes_are_written_and_closed_behind_each_creation_and_read_in_a_phase_of_their_own() {
        let spec = Mdtest {
            files: 2,
            bytes: Bytes(3901).into(),
            phases: vec![NamePhase::Create, NamePhase::Read, NamePhase::Unlink],
            think: Seconds(1.0),
            directory: Directory::Own,
            random: false,
        };
        let mut application = MdtestApplication::new(&spec, 1, 1);
        let mut counter = 0;
        let mut random = Random::named(1, "mdtest", &mut counter);
        let mut seen = Vec::new();
        loop {
            match application.next(0, Time::ZERO, &mut random) {
                Ok(Next::Ask(ask)) => seen.push((
                    ask.operation.name(),
                    ask.file,
                    ask.size,
                    ask.after == Span::ZERO,
                )),
                Ok(Next::Barrier) => {}
                _ => break,
            }
        }
        assert_eq!(application.total_requests(), Some(seen.len() as u64));
        let expected = [
            ("create", 0, 0, true),
            ("write", 0, 3901, true),
            ("close", 0, 0, true),
            ("create", 1, 0, false),
            ("write", 1, 3901, true),
            ("close", 1, 0, true),
            ("read", 0, 3901, false),
            ("read", 1, 3901, false),
            ("unlink", 0, 0, false),
            ("unlink", 1, 0, false),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn in_random_order_each_file_still_comes_once_in_each_phase() {
        let spec = Mdtest {
            files: 50,
            phases: vec![NamePhase::Create, NamePhase::Stat],
            bytes: Bytes(10).into(),
            think: Seconds(0.0),
            directory: Directory::Shared,
            random: true,
        };
        let mut application = MdtestApplication::new(&spec, 2, 1);
        let mut counter = 0;
        let mut random = Random::named(1, "mdtest", &mut counter);
        let mut seen: [Vec<(&str, u32)>; 2] = Default::default();
        loop {
            match application.next(1, Time::ZERO, &mut random) {
                Ok(Next::Ask(ask)) => {
                    seen[ask.phase as usize].push((ask.operation.name(), ask.file));
                }
                Ok(Next::Barrier) => {}
                _ => break,
            }
        }
        // A file is written and closed behind its creation.
        for three in seen[0].chunks(3) {
            let operations: Vec<&str> = three.iter().map(|it| it.0).collect();
            assert_eq!(operations, ["create", "write", "close"]);
            assert!(three.iter().all(|it| it.1 == three[0].1));
        }
        let made: Vec<u32> = seen[0].iter().step_by(3).map(|it| it.1).collect();
        let found: Vec<u32> = seen[1].iter().map(|it| it.1).collect();
        assert_ne!(made, found);
        for mut files in [made, found] {
            assert!(!files.is_sorted());
            files.sort_unstable();
            assert!(files.into_iter().eq(50..100));
        }
    }
}
