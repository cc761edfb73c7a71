//! The members of an array, and what splits transfers into parts of them.
//!
//! ```text
//!                       ╭────── disk ×n ───────╮
//!   submit ─▶ [split] ──┼▶ (queue) ─▶ (device) ┼─▶ (bus)
//!                │      │     ╎  done ◀────────┼─────╯
//!                │      ╰─────╎─────│──────────╯
//!                ╰─▶ (waiting)      ╰─▶ [collect] ─▶ done, or what is written then
//! ```
//!
//! The queue is an I/O scheduler's, if the operating system makes the array. A command is in
//! progress there until the bus has passed its data.

use headrace_net::{Firing, Node, Page, Slot, Time, To};
use headrace_spec::{IoScheduler, Raid};
use headrace_trace::Operation;

use super::layout::{Layout, Part};
use super::rebuild::{self, Buffer, Progress};
use super::{capacity_of, within};
use crate::device::{self, bus};
use crate::iosched::{self, BlockDevice};
use crate::tokens::Transfer;

/// A transfer of the array whose parts are out, or a chunk being rebuilt.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub transfer: Transfer,
    pub pending: u32,
    /// Only the preceding reads are out.
    pub reading: bool,
    pub rebuilds: bool,
}

/// State of the array's members.
pub(super) struct Array {
    pub layout: Layout,
    capacity: u64,
    /// By member: parts that are out, and the byte after the last.
    out: Vec<u32>,
    last: Vec<u64>,
    pub rebuild: Option<Progress>,
}

impl Array {
    pub(super) fn choose(&self, of: std::ops::Range<u32>, address: u64, end: u64) -> u32 {
        let first = of.start;
        let near = |member: u32| {
            let index = member as usize;
            (self.out[index], self.last[index].abs_diff(address))
        };
        let working = of.filter(|&member| self.layout.holds(member, end));
        working.min_by_key(|&member| near(member)).unwrap_or(first)
    }

    fn sent(&mut self, part: &Part) {
        self.out[part.member as usize] += 1;
        self.last[part.member as usize] = part.address + part.size;
    }

    /// Returns the first and the following member operations of a transfer.
    fn parts_of(&self, transfer: &Transfer) -> (Vec<Part>, Vec<Part>) {
        if transfer.operation == Operation::Sync {
            let part = |member| Part {
                writing: true,
                member,
                address: 0,
                size: 0,
            };
            return (self.layout.present().map(part).collect(), Vec::new());
        }
        let writing = transfer.operation == Operation::Write;
        let (address, size) = within(transfer, self.capacity);
        let choose = |of, address, end| self.choose(of, address, end);
        let plan = self.layout.plan(writing, address, size, choose);
        (plan.first, plan.then)
    }
}

/// Destinations of parts, and the transfers waiting for them.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub waiting: Node<Waiting>,
    pub members: To<Transfer>,
}

impl Run {
    /// Sends the first parts of what waits from now on.
    pub(super) fn begin(
        self,
        firing: &mut Firing<'_>,
        array: &mut Array,
        waiting: Waiting,
        parts: Vec<Part>,
    ) {
        let slot = firing.put(self.waiting, waiting);
        self.send(firing, array, slot, parts);
    }

    /// Sends parts for what waits in this slot.
    fn send(self, firing: &mut Firing<'_>, array: &mut Array, slot: Slot, parts: Vec<Part>) {
        let it = firing.token_mut(self.waiting, slot);
        it.pending = parts.len() as u32;
        let transfer = it.transfer;
        for part in parts {
            array.sent(&part);
            firing.put(self.members, on_member(&transfer, &part, slot));
        }
    }
}

/// Writes the members.
pub(super) fn members(
    page: &mut Page<'_>,
    spec: &Raid,
    each: Option<&IoScheduler>,
    done: Node<Transfer>,
) -> BlockDevice {
    let member = spec.member.device();
    let layout = Layout::new(spec);
    let submit = page.place::<Transfer>("submit");
    let waiting = page.bag::<Waiting>("waiting");
    let back = page.place::<Transfer>("back");
    let bus = bus::station(page, &spec.bus);
    let (rx, tx, passing) = page.fold("disk", spec.disks, |page| {
        let (rx, tx) = (page.input::<Transfer>("rx"), page.output::<Transfer>("tx"));
        let mut device = device::build(page, &member);
        // A command is in progress until its data has passed.
        let passing = bus.map(|_| {
            let (to, from) = (page.output::<Transfer>("to bus"), page.input("from bus"));
            page.connect(device.done, to);
            device.done = page.place("passed");
            page.connect(from, device.done);
            (to, from)
        });
        if let Some(scheduler) = each {
            device = iosched::build(page, scheduler, device);
        }
        page.connect(rx, device.submit);
        page.connect(device.done, tx);
        (rx, tx, passing)
    });
    page.connect(tx, back);
    if let (Some(bus), Some((to, from))) = (bus, passing) {
        page.connect(to, bus);
        page.connect(bus, from.by(|part: &Transfer| u32::from(part.member)));
    }
    let run = Run {
        waiting,
        members: rx.by(|part: &Transfer| u32::from(part.member)),
    };
    let number = spec.disks as usize;
    let capacity = capacity_of(spec);
    let mut progress = Progress::new(&spec.rebuild, device::capacity(&member));
    let first = progress.as_mut().map(|it| it.first(spec.rebuild.chunks));
    let array = page.store("state", move |_| Array {
        layout: layout.clone(),
        capacity,
        out: vec![0; number],
        last: vec![0; number],
        rebuild: progress.clone(),
    });
    page.transition("split")
        .take(submit)
        .with(array)
        .puts(waiting)
        .puts_many(run.members)
        .fires(move |firing, transfer: Transfer, array| {
            let (first, then) = array.parts_of(&transfer);
            let reading = !first.is_empty() && !then.is_empty();
            let now = if first.is_empty() { then } else { first };
            let it = Waiting {
                transfer,
                pending: 0,
                reading,
                rebuilds: false,
            };
            run.begin(firing, array, it, now);
        });
    let ends = Ends {
        run,
        done,
        buffers: first.map(|first| rebuild::page(page, array, run, first)),
    };
    let collect = page
        .transition("collect")
        .take(back)
        .with(array)
        .may_take(waiting)
        .puts_many(run.members)
        .may_put(done);
    let collect = match ends.buffers {
        Some(buffers) => collect.may_put(buffers),
        None => collect,
    };
    collect.fires(move |firing, part: Transfer, array| ends.collect(firing, &part, array));
    BlockDevice { submit, done }
}

/// Destinations of completed parts.
#[derive(Clone, Copy)]
struct Ends {
    run: Run,
    done: Node<Transfer>,
    buffers: Option<Node<Buffer>>,
}

impl Ends {
    fn collect(&self, firing: &mut Firing<'_>, part: &Transfer, array: &mut Array) {
        array.out[usize::from(part.member)] -= 1;
        let slot = Slot(part.part_of);
        let it = firing.token_mut(self.run.waiting, slot);
        it.pending -= 1;
        if it.pending > 0 {
            return;
        }
        let (transfer, rebuilds) = (it.transfer, it.rebuilds);
        if it.reading {
            it.reading = false;
            let then = match rebuilds {
                true => rebuild::on_the_spare(&transfer),
                false => array.parts_of(&transfer).1,
            };
            self.run.send(firing, array, slot, then);
            return;
        }
        firing.take(self.run.waiting, slot);
        match (&mut array.rebuild, self.buffers) {
            (Some(rebuild), Some(buffers)) if rebuilds => {
                let now = firing.now();
                let took = now.since(Time(transfer.offset));
                let rest = rebuild.finish(transfer.address, took, now);
                let how_far = rebuild.how_far();
                array.layout.rebuilt(how_far);
                firing.put(buffers, Buffer { rest });
            }
            _ => {
                firing.put(self.done, transfer);
            }
        }
    }
}

fn on_member(transfer: &Transfer, part: &Part, slot: Slot) -> Transfer {
    let operation = match (transfer.operation, part.writing) {
        (Operation::Sync, _) => Operation::Sync,
        (_, true) => Operation::Write,
        (_, false) => Operation::Read,
    };
    // A transfer does not name its new blocks, so each part has an equal share of them. So have
    // parity and a mirror's other half, where nothing was either. Data that is read for a write
    // goes into memory of the array's own. So does data from which a missing member's part is
    // computed, though it is counted here.
    let first_used = match operation {
        Operation::Read | Operation::Write if operation == transfer.operation => {
            let share = u128::from(transfer.first_used) * u128::from(part.size);
            let whole = u128::from(transfer.size.max(1));
            ((share + whole / 2) / whole) as u32
        }
        _ => 0,
    };
    Transfer {
        address: part.address,
        size: part.size,
        first_used,
        operation,
        // All reads are synchronous (op_is_sync in Linux).
        synchronous: transfer.synchronous || operation == Operation::Read,
        member: part.member as u16,
        part_of: slot.0,
        ..*transfer
    }
}
