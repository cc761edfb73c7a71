//! An array of equal devices.
//!
//! ```text
//!   submit ─▶ [split] ─▶ (disk ×n) ─▶ [collect] ─▶ done
//!                ╰─▶ (waiting) ─────────╯  ╰─▶ what is written then
//! ```
//!
//! Writing with parity reads what the new parity needs, by read-modify-write or
//! by reconstruction, whichever reads less, and then writes; full stripes are
//! written at once. Mirrors are read where fewer parts are out, and among equals
//! where the last address was nearest (as Linux's drivers/md/raid1.c does).
//!
//! Not modelled: a controller's cache, rebuilding, locks of stripes that are
//! written twice at once, the processor's time for parity, bitmaps.

mod layout;

use headrace_net::{Page, Slot, To};
use headrace_spec::Raid;
use headrace_trace::Operation;

use super::BlockDevice;
use crate::tokens::Transfer;
use layout::{Layout, Part};

/// A transfer of the array whose parts are out.
#[derive(Clone, Copy)]
struct Waiting {
    transfer: Transfer,
    pending: u32,
    /// Only what has to be read first is out.
    reading: bool,
}

/// What the array knows of its members.
struct Array {
    layout: Layout,
    /// By member: parts that are out, and the byte after the last.
    out: Vec<u32>,
    last: Vec<u64>,
}

impl Array {
    fn choose(&self, of: std::ops::Range<u32>, address: u64) -> u32 {
        let first = of.start;
        let near = |member: u32| {
            let index = member as usize;
            (self.out[index], self.last[index].abs_diff(address))
        };
        let working = of.filter(|&member| self.layout.works(member));
        working.min_by_key(|&member| near(member)).unwrap_or(first)
    }

    fn sent(&mut self, part: &Part) {
        self.out[part.member as usize] += 1;
        self.last[part.member as usize] = part.address + part.size;
    }
}

pub(super) fn array(page: &mut Page<'_>, spec: &Raid) -> BlockDevice {
    let member = spec.member.device();
    let layout = Layout::new(spec);
    let done = page.place::<Transfer>("array done");
    page.page("array", |page| {
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
        let array = page.store("state", move |_| Array {
            layout: layout.clone(),
            out: vec![0; number],
            last: vec![0; number],
        });
        page.transition("split")
            .take(submit)
            .with(array)
            .puts(waiting)
            .puts_many(members)
            .fires(move |firing, transfer: Transfer, array| {
                let (first, then) = parts_of(&transfer, array);
                let reading = !first.is_empty() && !then.is_empty();
                let now = if first.is_empty() { then } else { first };
                let slot = firing.put(
                    waiting,
                    Waiting {
                        transfer,
                        pending: now.len() as u32,
                        reading,
                    },
                );
                for part in now {
                    array.sent(&part);
                    firing.put(members, on_member(&transfer, &part, slot));
                }
            });
        page.transition("collect")
            .take(back)
            .with(array)
            .may_take(waiting)
            .puts_many(members)
            .may_put(done)
            .fires(move |firing, part: Transfer, array| {
                array.out[usize::from(part.member)] -= 1;
                let Some(slot) = part.part_of.map(Slot) else {
                    return;
                };
                let it = firing.token_mut(waiting, slot);
                it.pending -= 1;
                if it.pending > 0 {
                    return;
                }
                if it.reading {
                    it.reading = false;
                    let transfer = it.transfer;
                    let (_, then) = parts_of(&transfer, array);
                    firing.token_mut(waiting, slot).pending = then.len() as u32;
                    for part in then {
                        array.sent(&part);
                        firing.put(members, on_member(&transfer, &part, slot));
                    }
                } else if let Some(it) = firing.take(waiting, slot) {
                    firing.put(done, it.transfer);
                }
            });
        BlockDevice { submit, done }
    })
}

/// What is done first for a transfer, and what then.
fn parts_of(transfer: &Transfer, array: &Array) -> (Vec<Part>, Vec<Part>) {
    let layout = &array.layout;
    if transfer.operation == Operation::Sync {
        let all = (0..layout.members).filter(|&member| layout.works(member));
        let part = |member| Part {
            writing: true,
            member,
            address: 0,
            size: 0,
        };
        return (all.map(part).collect(), Vec::new());
    }
    let writing = transfer.operation == Operation::Write;
    let plan = layout.plan(writing, transfer.address, transfer.size, |of, address| {
        array.choose(of, address)
    });
    (plan.first, plan.then)
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
