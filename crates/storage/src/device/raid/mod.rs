//! An array of equal devices.
//!
//! ```text
//!   submit ─▶ [split] ─▶ (disk ×n) ─▶ [collect] ─▶ done
//!                ╰─▶ (waiting) ─────────╯  ╰─▶ what is written then
//!   (rebuild) ─▶ [rebuild] ─▶ (disk ×n) ─▶ [collect] ─▶ (rebuild)
//! ```
//!
//! Writing with parity reads what the new parity needs, by read-modify-write or
//! by reconstruction, whichever reads less, and then writes; full stripes are
//! written at once. Mirrors are read where fewer parts are out, and among equals
//! where the last address was nearest (as Linux's drivers/md/raid1.c does).
//!
//! A failed disk is rebuilt chunk by chunk: the survivors are read, the spare is
//! written. Where that is done the spare is read as any other, and where it has
//! begun it is written too (drivers/md/md.c, recovery_offset).
//!
//! Not modelled: locks of stripes that are written twice at once, the
//! processor's time for parity, bitmaps, rebuilding slower while others wait.

mod cache;
mod controller;
mod layout;
mod rebuild;

use headrace_net::{Firing, Infinite, Node, Page, Random, Slot, Store, Time, To};
use headrace_spec::Raid;
use headrace_trace::Operation;

use super::BlockDevice;
use crate::tokens::Transfer;
use layout::{Layout, Part};
use rebuild::{Buffer, Progress};

/// A transfer of the array whose parts are out, or a chunk being rebuilt.
#[derive(Clone, Copy)]
struct Waiting {
    transfer: Transfer,
    pending: u32,
    /// Only what has to be read first is out.
    reading: bool,
    rebuilds: bool,
}

/// What the array knows of its members.
struct Array {
    layout: Layout,
    capacity: u64,
    /// By member: parts that are out, and the byte after the last.
    out: Vec<u32>,
    last: Vec<u64>,
    rebuild: Option<Progress>,
}

impl Array {
    fn choose(&self, of: std::ops::Range<u32>, address: u64, end: u64) -> u32 {
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

    /// What is done first for a transfer, and what then.
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

/// Bytes of data that the array holds; of what is absurd, what can be counted
/// in stripes.
fn capacity_of(spec: &Raid) -> u64 {
    let member = super::capacity(&spec.member.device());
    let all = member.saturating_mul(u64::from(spec.data_disks()));
    all.min(1 << 60)
}

/// Where a transfer lies: addresses past the capacity count round.
fn within(transfer: &Transfer, capacity: u64) -> (u64, u64) {
    let size = transfer.size.min(capacity);
    let address = transfer.address % capacity.max(1);
    (address.min(capacity - size.max(1).min(capacity)), size)
}

pub(super) fn array(page: &mut Page<'_>, spec: &Raid) -> BlockDevice {
    let done = page.place::<Transfer>("array done");
    page.page("array", |page| {
        if spec.cache.size.0 == 0 {
            return members(page, spec, done);
        }
        let behind = page.place::<Transfer>("members done");
        let members = members(page, spec, behind);
        controller::cached(page, spec, members, done)
    })
}

/// The members, and what splits transfers into parts of them.
fn members(page: &mut Page<'_>, spec: &Raid, done: Node<Transfer>) -> BlockDevice {
    let member = spec.member.device();
    let layout = Layout::new(spec);
    let submit = page.place::<Transfer>("submit");
    let waiting = page.bag::<Waiting>("waiting");
    let back = page.place::<Transfer>("back");
    let (rx, tx) = page.fold("disk", spec.disks, |page| {
        let (rx, tx) = (page.input::<Transfer>("rx"), page.output::<Transfer>("tx"));
        let device = super::build(page, &member);
        page.connect(rx, device.submit);
        page.connect(device.done, tx);
        (rx, tx)
    });
    page.connect(tx, back);
    let members: To<Transfer> = rx.by(|part: &Transfer| u32::from(part.member));
    let number = spec.disks as usize;
    let capacity = capacity_of(spec);
    let progress = Progress::new(&spec.rebuild, super::capacity(&member));
    let rebuilds = progress.is_some();
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
        .puts_many(members)
        .fires(move |firing, transfer: Transfer, array| {
            let (first, then) = array.parts_of(&transfer);
            let reading = !first.is_empty() && !then.is_empty();
            let now = if first.is_empty() { then } else { first };
            let slot = firing.put(
                waiting,
                Waiting {
                    transfer,
                    pending: now.len() as u32,
                    reading,
                    rebuilds: false,
                },
            );
            for part in now {
                array.sent(&part);
                firing.put(members, on_member(&transfer, &part, slot));
            }
        });
    let ends = Ends {
        waiting,
        members,
        done,
        buffers: rebuilds.then(|| rebuilding(page, spec, array, waiting, members)),
    };
    let collect = page
        .transition("collect")
        .take(back)
        .with(array)
        .may_take(waiting)
        .puts_many(members)
        .may_put(done);
    let collect = match ends.buffers {
        Some(buffers) => collect.may_put(buffers),
        None => collect,
    };
    collect.fires(move |firing, part: Transfer, array| ends.collect(firing, &part, array));
    BlockDevice { submit, done }
}

/// Buffers take chunk after chunk, survivors first. A station, so that reports
/// show how many chunks have come to it.
fn rebuilding(
    page: &mut Page<'_>,
    spec: &Raid,
    array: Store<Array>,
    waiting: Node<Waiting>,
    members: To<Transfer>,
) -> Node<Buffer> {
    let rest = |buffer: &Buffer, _: &mut Random<'_>| buffer.rest;
    let buffers = page.station("rebuild", Infinite(rest));
    let number = spec.rebuild.chunks;
    page.tokens(buffers, move |_| {
        (0..number).map(|_| Buffer {
            rest: headrace_net::Span::ZERO,
            told: false,
        })
    });
    page.transition("rebuild next")
        .take(buffers)
        .with(array)
        .may_put(buffers)
        .may_put(waiting)
        .puts_many(members)
        .fires(move |firing, buffer: Buffer, array| {
            let Some(rebuild) = &mut array.rebuild else {
                return;
            };
            let rest = rebuild.reserve_unless(buffer.told, firing.now());
            if rest.0 > 0 {
                firing.put(buffers, Buffer { rest, told: true });
                return;
            }
            let (Some((address, size)), member) = (rebuild.begin(), rebuild.member) else {
                return;
            };
            let how_far = rebuild.how_far();
            array.layout.rebuilt(how_far);
            let choose = |of, address, end| array.choose(of, address, end);
            let parts = array.layout.survivors(member, address, size, choose);
            let transfer = chunk(member, address, size, firing.now());
            let slot = firing.put(
                waiting,
                Waiting {
                    transfer,
                    pending: parts.len() as u32,
                    reading: true,
                    rebuilds: true,
                },
            );
            for part in parts {
                array.sent(&part);
                firing.put(members, on_member(&transfer, &part, slot));
            }
        });
    buffers
}

/// A chunk of the spare; its `offset` says when it began.
fn chunk(member: u32, address: u64, size: u64, began: Time) -> Transfer {
    Transfer {
        owner: None,
        process: u32::MAX,
        file: 0,
        offset: began.0,
        address,
        size,
        operation: Operation::Write,
        synchronous: false,
        forced: false,
        metadata: false,
        absorbed: false,
        member: member as u16,
        part_of: None,
    }
}

/// Where parts that are done lead.
#[derive(Clone, Copy)]
struct Ends {
    waiting: Node<Waiting>,
    members: To<Transfer>,
    done: Node<Transfer>,
    buffers: Option<Node<Buffer>>,
}

impl Ends {
    fn collect(&self, firing: &mut Firing<'_>, part: &Transfer, array: &mut Array) {
        array.out[usize::from(part.member)] -= 1;
        let Some(slot) = part.part_of.map(Slot) else {
            return;
        };
        let it = firing.token_mut(self.waiting, slot);
        it.pending -= 1;
        if it.pending > 0 {
            return;
        }
        let (transfer, rebuilds) = (it.transfer, it.rebuilds);
        if it.reading {
            it.reading = false;
            let then = if rebuilds {
                vec![Part {
                    writing: true,
                    member: u32::from(transfer.member),
                    address: transfer.address,
                    size: transfer.size,
                }]
            } else {
                array.parts_of(&transfer).1
            };
            firing.token_mut(self.waiting, slot).pending = then.len() as u32;
            for part in then {
                array.sent(&part);
                firing.put(self.members, on_member(&transfer, &part, slot));
            }
            return;
        }
        firing.take(self.waiting, slot);
        match (&mut array.rebuild, self.buffers) {
            (Some(rebuild), Some(buffers)) if rebuilds => {
                let took = firing.now().since(Time(transfer.offset));
                let rest = rebuild.finish(transfer.address, took);
                let how_far = rebuild.how_far();
                array.layout.rebuilt(how_far);
                firing.put(buffers, Buffer { rest, told: false });
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
    Transfer {
        address: part.address,
        size: part.size,
        operation,
        member: part.member as u16,
        part_of: Some(slot.0),
        ..*transfer
    }
}
