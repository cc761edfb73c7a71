//! The pattern of the mdtest benchmark: each process does one thing with all of
//! its files, then the next with all of them.
//!
//! Not modelled: the tree of directories (mdtest's depth and branching factor).

use headrace_net::{Random, Span, Time};
use headrace_spec::{Mdtest, NamePhase};
use headrace_trace::Operation;

use super::{Application, Ask, Next};

/// An mdtest-like workload.
#[derive(Debug)]
pub struct MdtestApplication {
    spec: Mdtest,
    processes: u32,
    /// Phase and file of each process.
    progress: Vec<(u32, u32)>,
}

impl MdtestApplication {
    /// The workload for so many processes.
    pub fn new(spec: &Mdtest, processes: u32) -> MdtestApplication {
        MdtestApplication {
            spec: spec.clone(),
            processes,
            progress: vec![(0, 0); processes as usize],
        }
    }
}

fn operation(phase: NamePhase) -> Operation {
    match phase {
        NamePhase::Create => Operation::Create,
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

    fn next(&mut self, rank: u32, _: Time, _: &mut Random<'_>) -> Result<Next, String> {
        let (phase, file) = self.progress[rank as usize];
        let Some(&what) = self.spec.phases.get(phase as usize) else {
            return Ok(Next::Finished);
        };
        if file == self.spec.files {
            self.progress[rank as usize] = (phase + 1, 0);
            let last = phase as usize + 1 == self.spec.phases.len();
            return Ok(if last { Next::Finished } else { Next::Barrier });
        }
        self.progress[rank as usize].1 += 1;
        let after = match (phase, file) {
            (0, 0) => Span::ZERO,
            _ => Span::from_seconds(self.spec.think.0),
        };
        Ok(Next::Ask(Ask {
            operation: operation(what),
            file: rank * self.spec.files + file,
            offset: 0,
            size: 0,
            after,
            compute: Span::ZERO,
            intended: None,
            phase,
        }))
    }

    fn total_requests(&self) -> Option<u64> {
        let phases = self.spec.phases.len() as u64;
        let files = u64::from(self.spec.files) * u64::from(self.processes);
        phases.checked_mul(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_spec::Seconds;

    #[test]
    fn each_file_is_made_looked_up_and_removed_once() {
        let spec = Mdtest {
            files: 3,
            phases: vec![NamePhase::Create, NamePhase::Stat, NamePhase::Unlink],
            think: Seconds(0.0),
        };
        let mut application = MdtestApplication::new(&spec, 2);
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
                of("create", first)
                    .chain([("barrier", rank)])
                    .chain(of("stat", first))
                    .chain([("barrier", rank)])
                    .chain(of("unlink", first))
            })
            .collect();
        assert_eq!(seen, expected);
        assert_eq!(application.total_requests(), Some(18));
    }
}
