//! The pattern of the mdtest benchmark: each process does one thing with all of
//! its files, then the next with all of them. It closes each file that it has made and
//! written before it makes the next (mdtest.c: create_file).
//!
//! The phase `find` is IO500's (src/phase_find.c, with pfind): directories are listed, and a file
//! whose name contains "01" is looked up. Each process lists the directory of one process; a
//! directory that all share is listed by the first. Each looks up the files of one process.
//!
//! Not modelled: a tree of directories (mdtest's depth and branching factor); opening and closing
//! the files that are read; a process of `find` that takes work from another.

use headrace_net::{Random, Span, Time};
use headrace_spec::{Directory, Mdtest, MixedOperation, NamePhase};
use headrace_trace::{Flags, Operation};

use super::{Application, Ask, ExistingFile, Next, Stonewall};
use crate::permutation::Permutation;
use crate::tree_copy::LISTED;

/// An mdtest-like workload.
#[derive(Debug)]
pub struct MdtestApplication {
    spec: Mdtest,
    processes: u32,
    seed: u64,
    progress: Vec<Progress>,
    stonewall: Stonewall,
}

/// Progress of a process.
#[derive(Clone, Copy, Default, Debug)]
struct Progress {
    phase: u32,
    /// Calls of the phase that list a directory.
    listed: u32,
    /// The next file of the phase, and the next step on it.
    file: u32,
    step: Step,
    /// True when the files that it made are on stable storage.
    is_synced: bool,
}

/// Step on a file in a phase.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum Step {
    /// The operation of the phase.
    #[default]
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
            progress: vec![Progress::default(); processes as usize],
            stonewall: Stonewall::new(spec.stonewall, processes),
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

    /// The process whose files a process uses in a phase (mdtest.c: stat_name, read_name, rm_name).
    fn owner(&self, rank: u32, phase: NamePhase) -> u32 {
        let shifts = match phase {
            NamePhase::Stat | NamePhase::Find => 1,
            NamePhase::Read => 2,
            NamePhase::Unlink => 3,
            NamePhase::Create
            | NamePhase::Mkdir
            | NamePhase::Rmdir
            | NamePhase::Rename
            | NamePhase::Readdir => 0,
        };
        let shifted = u64::from(rank) + shifts * u64::from(self.spec.rank_shift);
        (shifted % u64::from(self.processes.max(1))) as u32
    }

    /// Calls that list directories in a phase, with `files` files of each process: one for each
    /// part, and the one that finds nothing more.
    fn lists(&self, rank: u32, phase: NamePhase, files: u32) -> u32 {
        if phase != NamePhase::Find {
            return 0;
        }
        match self.spec.directory {
            Directory::Own => files.div_ceil(LISTED) + 1,
            Directory::Shared if rank == 0 => {
                let all = u64::from(files) * u64::from(self.processes);
                u32::try_from(all.div_ceil(LISTED.into()) + 1).unwrap_or(u32::MAX)
            }
            Directory::Shared => 0,
        }
    }

    /// Returns the operations of a process in a phase on all of its files.
    fn requests(&self, rank: u32, phase: NamePhase) -> u64 {
        let files = self.spec.files;
        match phase {
            NamePhase::Create => {
                let sync = u64::from(self.spec.sync_created && files > 0);
                (2 + u64::from(self.spec.has_bytes())) * u64::from(files) + sync
            }
            NamePhase::Find => {
                let owner = self.owner(rank, phase);
                let looked_up = (0..files).filter(|&file| is_looked_up(owner, file)).count();
                u64::from(self.lists(rank, phase, files)) + looked_up as u64
            }
            _ => u64::from(files),
        }
    }
}

/// Returns true if IO500's `find` looks up a file: its -size and -newer need the attributes of
/// those whose name is `*01*`.
fn is_looked_up(rank: u32, file: u32) -> bool {
    has_01(rank) || has_01(file)
}

/// Returns true if a decimal number contains the digits 01.
fn has_01(mut number: u32) -> bool {
    while number >= 100 {
        if number % 100 == 1 {
            return true;
        }
        number /= 10;
    }
    false
}

fn operation(phase: NamePhase) -> Operation {
    match phase {
        NamePhase::Create => Operation::Create,
        NamePhase::Read => Operation::Read,
        NamePhase::Stat | NamePhase::Find => Operation::Stat,
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

    fn missed_stonewall(&self) -> bool {
        self.stonewall.is_missed()
    }

    fn farthest(&mut self, elsewhere: u64) -> u64 {
        self.stonewall.farthest(elsewhere)
    }

    fn needs_all_processes(&self) -> bool {
        self.stonewall.is_given()
    }

    fn existing(&self) -> Vec<ExistingFile> {
        // Files that are read before any phase makes them.
        let uses = [NamePhase::Create, NamePhase::Read];
        let first = self.spec.phases.iter().find(|phase| uses.contains(phase));
        if first != Some(&NamePhase::Read) || self.spec.files == 0 {
            return Vec::new();
        }
        let files = (0..self.files()).map(|file| {
            let rank = file / self.spec.files;
            let size = self.spec.bytes.of(rank.into()).0;
            ExistingFile {
                file,
                rank: Some(rank),
                size,
            }
        });
        files.collect()
    }

    fn next(&mut self, rank: u32, now: Time, _: &mut Random<'_>) -> Result<Next, String> {
        let mut progress = self.progress[rank as usize];
        let Some(&kind) = self.spec.phases.get(progress.phase as usize) else {
            return Ok(Next::Finished);
        };
        let phase = progress.phase;
        let creates = kind == NamePhase::Create;
        if creates && progress.step == Step::First {
            let (done, all) = (progress.file.into(), self.spec.files.into());
            if self.stonewall.stops(rank, phase, done, all, now) {
                return Ok(Next::Barrier);
            }
        }
        let limit = self.stonewall.limit(rank, phase, creates);
        let files = u64::from(self.spec.files).min(limit) as u32;
        let owner = self.owner(rank, kind);
        let is_first = phase == 0 && progress.file == 0 && progress.listed == 0;
        let think = match is_first {
            true => Span::ZERO,
            false => Span::from_seconds(self.spec.think.0),
        };
        let ask = Ask {
            operation: operation(kind),
            call: None,
            file: owner * self.spec.files,
            offset: 0,
            size: 0,
            after: think,
            compute: Span::ZERO,
            intended: None,
            phase,
            flags: Flags::NONE,
        };
        if progress.listed < self.lists(rank, kind, files) {
            let call = match progress.listed {
                0 => MixedOperation::FindFirst,
                _ => MixedOperation::FindNext,
            };
            self.progress[rank as usize].listed += 1;
            return Ok(Next::Ask(Ask {
                operation: Operation::Readdir,
                call: Some(call),
                ..ask
            }));
        }
        if kind == NamePhase::Find {
            while progress.file < files && !is_looked_up(owner, progress.file) {
                progress.file += 1;
            }
        }
        if progress.file == files {
            if creates && self.spec.sync_created && files > 0 && !progress.is_synced {
                self.progress[rank as usize].is_synced = true;
                return Ok(Next::Ask(Ask {
                    operation: Operation::Sync,
                    call: Some(MixedOperation::Syncfs),
                    file: owner * self.spec.files + self.file_at(owner, phase, files - 1),
                    after: Span::ZERO,
                    ..ask
                }));
            }
            self.progress[rank as usize] = Progress {
                phase: phase + 1,
                ..Progress::default()
            };
            let last = phase as usize + 1 == self.spec.phases.len();
            return Ok(if last {
                Next::Finished
            } else {
                Next::PhaseOver
            });
        }
        let (file, step) = (progress.file, progress.step);
        let bytes = self.spec.bytes.of(owner.into()).0;
        progress.step = match (kind, step) {
            (NamePhase::Create, Step::First) if bytes > 0 => Step::Write,
            (NamePhase::Create, Step::First | Step::Write) => Step::Close,
            _ => Step::First,
        };
        progress.file += u32::from(progress.step == Step::First);
        self.progress[rank as usize] = progress;
        // A file is made, written and closed without a pause.
        let after = match step {
            Step::First => think,
            Step::Write | Step::Close => Span::ZERO,
        };
        let (operation, size) = match (step, kind) {
            (Step::Write, _) => (Operation::Write, bytes),
            (Step::Close, _) => (Operation::Close, 0),
            (Step::First, NamePhase::Read) => (Operation::Read, bytes),
            (Step::First, _) => (ask.operation, 0),
        };
        Ok(Next::Ask(Ask {
            operation,
            file: owner * self.spec.files + self.file_at(owner, phase, file),
            size,
            after,
            ..ask
        }))
    }

    fn total_requests(&self) -> Option<u64> {
        if self.stonewall.is_given() {
            return None;
        }
        let phases = &self.spec.phases;
        (0..self.processes)
            .flat_map(|rank| phases.iter().map(move |phase| self.requests(rank, *phase)))
            .try_fold(0_u64, u64::checked_add)
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
            rank_shift: 0,
            stonewall: Seconds(0.0),
            sync_created: false,
        };
        let mut application = MdtestApplication::new(&spec, 2, 1);
        let mut counter = 0;
        let mut random = Random::named(1, "mdtest", &mut counter);
        let mut seen = Vec::new();
        for rank in 0..2 {
            loop {
                match application.next(rank, Time::ZERO, &mut random) {
                    Ok(Next::Ask(ask)) => seen.push((ask.operation.name(), ask.file)),
                    Ok(Next::PhaseOver) => seen.push(("barrier", rank)),
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
            rank_shift: 0,
            stonewall: Seconds(0.0),
            sync_created: false,
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
                Ok(Next::PhaseOver) => {}
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

    /// Files that are read and never made are there before the run, with the bytes that are read.
    #[test]
    fn files_that_no_phase_makes_exist_before() {
        let existing = |phases: &[NamePhase]| {
            let spec = Mdtest {
                files: 2,
                bytes: Bytes(3901).into(),
                phases: phases.to_vec(),
                think: Seconds(0.0),
                directory: Directory::Own,
                rank_shift: 0,
                random: false,
                stonewall: Seconds(0.0),
                sync_created: false,
            };
            let files = MdtestApplication::new(&spec, 2, 1).existing();
            let files = files.iter().map(|it| (it.file, it.rank, it.size));
            files.collect::<Vec<_>>()
        };
        let all = [(0, Some(0)), (1, Some(0)), (2, Some(1)), (3, Some(1))];
        let all = all.map(|(file, rank)| (file, rank, 3901));
        assert_eq!(existing(&[NamePhase::Stat, NamePhase::Read]), all);
        assert_eq!(existing(&[NamePhase::Create, NamePhase::Read]), []);
        assert_eq!(existing(&[NamePhase::Stat]), []);
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
            rank_shift: 0,
            stonewall: Seconds(0.0),
            sync_created: false,
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
                Ok(Next::PhaseOver) => {}
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

    /// All operations of each process, phase by phase, with barriers in step.
    fn operations(spec: &Mdtest, processes: u32) -> Vec<(u32, &'static str, u32)> {
        let mut application = MdtestApplication::new(spec, processes, 1);
        let mut counter = 0;
        let mut random = Random::named(1, "mdtest", &mut counter);
        let mut seen = Vec::new();
        for _ in 0..spec.phases.len() {
            for rank in 0..processes {
                while let Ok(Next::Ask(ask)) = application.next(rank, Time::ZERO, &mut random) {
                    let name = ask.call.map_or(ask.operation.name(), MixedOperation::word);
                    seen.push((rank, name, ask.file));
                }
            }
        }
        assert_eq!(application.total_requests(), Some(seen.len() as u64));
        seen
    }

    #[test]
    fn other_processes_look_up_read_and_remove_with_a_shift() {
        use NamePhase::{Create, Read, Stat, Unlink};
        let spec = Mdtest {
            files: 1,
            bytes: Bytes(1).into(),
            phases: vec![Create, Stat, Read, Unlink],
            think: Seconds(0.0),
            directory: Directory::Own,
            random: false,
            rank_shift: 1,
            stonewall: Seconds(0.0),
            sync_created: false,
        };
        let of = |name| {
            let all = operations(&spec, 4).into_iter();
            let files = all.filter(move |(_, operation, _)| *operation == name);
            files.map(|(_, _, file)| file).collect::<Vec<u32>>()
        };
        assert_eq!(of("create"), [0, 1, 2, 3]);
        assert_eq!(of("stat"), [1, 2, 3, 0]);
        assert_eq!(of("read"), [2, 3, 0, 1]);
        assert_eq!(of("unlink"), [3, 0, 1, 2]);
    }

    /// Each process syncs behind its last creation, whose file is there; and once only.
    #[test]
    fn what_is_created_is_synced_at_the_end() {
        let spec = Mdtest {
            files: 2,
            bytes: Bytes(1).into(),
            phases: vec![NamePhase::Create, NamePhase::Unlink],
            think: Seconds(0.0),
            directory: Directory::Own,
            random: false,
            rank_shift: 0,
            stonewall: Seconds(0.0),
            sync_created: true,
        };
        let made = ["create", "write", "close"];
        let names = [&made[..], &made[..], &["syncfs", "unlink", "unlink"]].concat();
        let files = [2, 2, 2, 3, 3, 3, 3, 2, 3];
        let expected = names.into_iter().zip(files);
        let seen = operations(&spec, 2);
        let of_second = seen.into_iter().filter(|(rank, ..)| *rank == 1);
        let of_second = of_second.map(|(_, name, file)| (name, file));
        assert!(of_second.eq(expected));
    }

    #[test]
    fn find_lists_directories_and_looks_up_the_names_that_match() {
        let mut spec = Mdtest {
            files: 1030,
            bytes: Bytes(0).into(),
            phases: vec![NamePhase::Find],
            think: Seconds(0.0),
            directory: Directory::Own,
            random: false,
            rank_shift: 1,
            stonewall: Seconds(0.0),
            sync_created: false,
        };
        let matching: Vec<u32> = (0..1030)
            .filter(|file: &u32| file.to_string().contains("01"))
            .collect();
        // 1024 names a call, and the call that finds nothing more.
        let calls = ["find-first", "find-next", "find-next"];
        let seen = operations(&spec, 2);
        let of_rank = |rank, first: u32| {
            let listed = calls.map(move |call| (rank, call, first));
            let looked_up = matching
                .iter()
                .map(move |file| (rank, "stat", first + file));
            listed.into_iter().chain(looked_up).collect::<Vec<_>>()
        };
        assert_eq!(seen, [of_rank(0, 1030), of_rank(1, 0)].concat());
        // One process lists a directory that all share: 2060 names take three calls.
        spec.directory = Directory::Shared;
        let seen = operations(&spec, 2);
        let lists = seen.iter().filter(|(_, name, _)| *name != "stat");
        assert_eq!(lists.map(|it| it.0).collect::<Vec<_>>(), [0, 0, 0, 0]);
        assert!(has_01(101) && has_01(2010) && !has_01(1) && !has_01(110));
    }
}
