use std::collections::BTreeMap;

use headrace_spec::{SystemKind, load};
use proptest::prelude::*;

use super::*;

/// A file system driven by hand: no processor, a device that completes transfers
/// in any order, a clock that goes on by itself.
struct Driven {
    volume: Volume,
    waiting: Vec<Option<Call>>,
    ready: Vec<Call>,
    device: Vec<Transfer>,
    now: Time,
    returned: usize,
    /// Bytes of each file that went to the device, by page.
    written: BTreeMap<(u32, u64), u32>,
    limit: u64,
    room: u64,
}

const PAGE: u64 = 4096;

impl Driven {
    fn new(system: &str, more: &str) -> Driven {
        let text = format!(
            "system = {system:?}\n[machine]\ndevice = {{ read_rate = \"60 MB/s\", write_rate = \
             \"60 MB/s\" }}\nmemory = {{ size = \"1 MiB\" }}\nwrite_back = {{ background_bytes = \
             \"64 KiB\", bytes = \"256 KiB\" }}\n{more}\n[[workload]]\nblock = \"1 MiB\"\n"
        );
        let loaded = load(&text, "test.toml".as_ref(), &[]).expect("it loads");
        let SystemKind::Local(local) = loaded.scenario.kind else {
            panic!("it is local");
        };
        let opened = vec![
            OpenFlags::default(),
            OpenFlags {
                synchronous: true,
                ..OpenFlags::default()
            },
            OpenFlags {
                direct: true,
                ..OpenFlags::default()
            },
        ];
        let callers = Callers {
            opened,
            volumes: 1,
            one_daemon: false,
        };
        Driven {
            volume: Volume::new(&local.machine, 1 << 30, 128 << 10, &callers),
            waiting: Vec::new(),
            ready: Vec::new(),
            device: Vec::new(),
            now: Time::ZERO,
            returned: 0,
            written: BTreeMap::new(),
            limit: 256 << 10,
            room: 1 << 20,
        }
    }

    fn call(&mut self, operation: Operation, workload: u16, file: u32, at: u64, size: u64) {
        let call = self.volume.step().kernel_call(Caller::Process, Span::ZERO);
        self.ready.push(Call {
            operation,
            workload,
            file,
            at,
            end: at + size,
            size,
            ..call
        });
    }

    fn go_on(&mut self, mut call: Call) {
        let mut step = self.volume.step();
        loop {
            match step.proceed(&mut call, self.now) {
                Next::Work(_) => {}
                Next::Pause(time) => self.now = self.now + time,
                Next::Return => {
                    self.returned += 1;
                    break;
                }
                Next::End => break,
                Next::Wait(wait) => {
                    call.transfers = step.effects.own().count() as u32;
                    if wait == Wait::Transfers && call.transfers == 0 {
                        continue;
                    }
                    let slot = self.waiting.len() as u32;
                    for transfer in step.effects.own() {
                        transfer.owner = Some(slot);
                    }
                    self.waiting.push(Some(call));
                    step.register(wait, slot);
                    break;
                }
            }
        }
        let effects = std::mem::take(&mut step.effects);
        drop(step);
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Effects) {
        for transfer in effects.transfers {
            if transfer.operation == Operation::Write && transfer.file != NO_FILE {
                let pages = transfer.offset / PAGE..(transfer.offset + transfer.size) / PAGE;
                for page in pages {
                    *self.written.entry((transfer.file, page)).or_default() += 1;
                }
            }
            self.device.push(transfer);
        }
        self.ready.extend(effects.calls);
        for slot in effects.woken {
            self.ready.extend(self.waiting[slot as usize].take());
        }
    }

    /// One step: a call, or a transfer that is done. False if nothing is left.
    fn step(&mut self, choice: usize) -> bool {
        self.now = self.now + Span(1_000_000);
        let all = self.ready.len() + self.device.len();
        if all == 0 {
            return false;
        }
        let choice = choice % all;
        if choice < self.ready.len() {
            let call = self.ready.remove(choice);
            self.go_on(call);
        } else {
            let transfer = self.device.remove(choice - self.ready.len());
            if let Some(slot) = transfer.owner {
                let call = self.waiting[slot as usize].as_mut().expect("it waits");
                call.transfers -= 1;
                if call.transfers == 0 {
                    self.ready.extend(self.waiting[slot as usize].take());
                }
            }
            let mut step = self.volume.step();
            step.arrived(&transfer, self.now);
            let effects = std::mem::take(&mut step.effects);
            drop(step);
            self.carry_out(effects);
        }
        true
    }
}

/// Returns the requests of one process: kind, file, first page and pages.
fn asks() -> impl Strategy<Value = Vec<(u8, u32, u64, u64)>> {
    prop::collection::vec((0_u8..6, 0_u32..3, 0_u64..200, 1_u64..80), 1..40)
}

fn systems() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("ext2", ""),
        ("ext3", ""),
        ("ext4", ""),
        ("xfs", ""),
        (
            "ext3",
            "[machine.file_system.journal]\nmode = \"journal\"\nsize = \"1 MiB\"",
        ),
        ("ext3", "[machine.read_ahead]\nwindow = \"0 B\""),
        ("ext4", "[machine.file_system.journal]\nmode = \"none\""),
    ])
}

proptest! {
    // Some ways in which write-back, commits and rewrites meet are rare.
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// For any requests and any order of the device's answers, every call returns. The cache and
    /// the dirty data stay within their limits, and all writes are on the device at the end.
    #[test]
    fn every_call_returns_and_no_byte_is_lost(
        asks in asks(),
        (system, more) in systems(),
        choices in prop::collection::vec(any::<u16>(), 64),
    ) {
        let mut driven = Driven::new(system, more);
        let mut dirtied = std::collections::BTreeSet::new();
        for &(kind, file, page, pages) in &asks {
            let (at, size) = (page * PAGE, pages * PAGE);
            match kind {
                0 | 1 => driven.call(Operation::Read, 0, file, at, size),
                2 | 3 => driven.call(Operation::Write, 0, file, at, size),
                4 => driven.call(Operation::Write, 1, file, at, size),
                _ => driven.call(Operation::Sync, 0, file, 0, 0),
            }
            if (2..=4).contains(&kind) {
                dirtied.extend((page..page + pages).map(|page| (file, page)));
            }
        }
        // Everything is synchronised at the end.
        let mut steps = 0_usize;
        let mut last = false;
        loop {
            let choice = usize::from(choices[steps % choices.len()]);
            steps += 1;
            prop_assert!(steps < 200_000, "it goes on for ever");
            if !driven.step(choice) {
                if last {
                    break;
                }
                last = true;
                for file in 0..3 {
                    driven.call(Operation::Sync, 0, file, 0, 0);
                }
            }
            prop_assert!(driven.volume.pages.lru.bytes() <= driven.room + (80 * PAGE));
            let volume = &driven.volume;
            let dirty = volume.flusher.load() + volume.journal.held();
            prop_assert!(dirty <= driven.limit + PAGE, "{dirty} dirty");
            let journal = &volume.journal;
            if journal.mode == JournalMode::Data {
                prop_assert!(journal.used() <= 1 << 20, "{} of it", journal.used());
            }
            if volume.pages.folio_for(1 << 40) == PAGE {
                prop_assert_eq!(volume.flusher.dirty(), volume.pages.lru.dirty_bytes());
            }
        }
        prop_assert_eq!(driven.returned, asks.len() + 3);
        prop_assert!(!driven.volume.journal.is_checkpointing());
        prop_assert_eq!(driven.volume.pages.lru.dirty_bytes(), 0);
        prop_assert_eq!(driven.volume.flusher.dirty(), 0);
        prop_assert_eq!(driven.volume.flusher.load(), 0);
        for page in dirtied {
            prop_assert!(driven.written.contains_key(&page), "{page:?} is lost");
        }
    }

    /// A file written once in order and synchronised goes to the device once, and through the
    /// journal too in data mode. None of it is written again.
    #[test]
    fn what_is_written_once_goes_to_the_device_once(
        pages in 1_u64..600,
        call in 1_u64..70,
        (system, more) in systems(),
        choices in prop::collection::vec(any::<u16>(), 64),
    ) {
        let mut driven = Driven::new(system, more);
        let mut steps = 0_usize;
        let mut finish = |driven: &mut Driven| {
            while driven.step(usize::from(choices[steps % choices.len()])) {
                steps += 1;
                assert!(steps < 200_000, "it goes on for ever");
            }
        };
        let mut page = 0;
        while page < pages {
            let size = call.min(pages - page);
            driven.call(Operation::Write, 0, 7, page * PAGE, size * PAGE);
            finish(&mut driven);
            page += size;
        }
        driven.call(Operation::Sync, 0, 7, 0, 0);
        finish(&mut driven);
        prop_assert_eq!(driven.written.len() as u64, pages);
        prop_assert!(driven.written.values().all(|times| *times == 1));
    }
}

/// A commit can begin where the superblock lies, and that be written meanwhile.
#[test]
fn the_superblock_frees_no_pages_that_go_to_its_place() {
    let mut volume = Driven::new("ext3", "file_system.journal.mode = \"journal\"").volume;
    volume.journal.data(0, 0, 2 * PAGE, Time::ZERO);
    volume.journal.commit();
    let parts = volume.journal.write_blocks();
    let &[(address, bytes)] = parts.as_slice() else {
        panic!("it is one transfer: {parts:?}");
    };
    let mut step = volume.step();
    step.register(Wait::Logged(address), 7);
    step.write_superblock();
    let superblock = step.effects.transfers.pop().expect("it is written");
    assert_eq!(superblock.address, address);
    step.arrived(&superblock, Time::ZERO);
    assert!(step.effects.woken.is_empty());
    let carrier = step.own_transfer(Operation::Write, address, bytes);
    step.arrived(&carrier, Time::ZERO);
    assert_eq!(step.effects.woken, [7]);
    let of_file = Range {
        file: 0,
        start: 0,
        end: 2 * PAGE,
    };
    assert_eq!(step.journal.carrier_of(of_file), None);
}
