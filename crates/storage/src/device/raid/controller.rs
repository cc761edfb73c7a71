//! A controller with a cache, in front of an array's members.
//!
//! ```text
//!                 ╭─ read, not here ────────────▶ members ─╮
//!   submit ─▶ [look]                                 ▲  ▲  │
//!                 ╰─▶ (moving) ─▶ [moved] ─ through ─╯  │  ├─▶ (moving) or done
//!                          done ◀─╯  ╰▶ (held) ─▶ [hold] ─▶ done
//!                         (destagers) ─▶ [destage] ─────╯  ╰─▶ (destagers)
//! ```
//!
//! A write is done when the cache has it; it waits while there is no room. The controller destages
//! dirty data above a low mark, when a write waits for room, or after some idle time. Full stripes
//! are first, then others in address order. With such a cache, backed by a battery, a sync takes no
//! time. Without a battery every write goes through.

use headrace_net::{Fcfs, Firing, Node, Page, Random, Slot, Span};
use headrace_spec::Raid;
use headrace_trace::Operation;

use super::cache::Cache;
use super::{capacity_of, within};
use crate::cache_counts;
use crate::iosched::BlockDevice;
use crate::tokens::Transfer;

/// A transfer that the members do.
#[derive(Clone, Copy)]
struct MemberTransfer {
    transfer: Transfer,
    destages: bool,
}

/// Places for the members' operations.
#[derive(Clone, Copy)]
struct Members {
    behind: Node<MemberTransfer>,
    submit: Node<Transfer>,
}

impl Members {
    /// Asks them; whose transfer it is stays in the bag.
    fn ask(self, firing: &mut Firing<'_>, transfer: Transfer, destages: bool) {
        let slot = firing.put(self.behind, MemberTransfer { transfer, destages });
        let owner = Some(slot.0);
        firing.put(self.submit, Transfer { owner, ..transfer });
    }
}

struct State {
    cache: Cache,
    capacity: u64,
    /// Transfers that have come and are not done.
    inside: u64,
    /// Time when the last came.
    last: headrace_net::Time,
    /// The clock that looks for idleness runs.
    clock: bool,
}

impl State {
    fn place(&self, transfer: &Transfer) -> (u64, u64) {
        within(transfer, self.capacity)
    }
}

pub(super) fn cached(
    page: &mut Page<'_>,
    spec: &Raid,
    members: BlockDevice,
    done: Node<Transfer>,
) -> BlockDevice {
    let cache = &spec.cache;
    let data = u64::from(spec.data_disks());
    let capacity = capacity_of(spec);
    let write_back = cache.write_back && cache.battery;
    // The clock has to move.
    let idle_time = Span::from_seconds(cache.idle_time.0).max(Span::from_micros(1));
    let per_byte = 1e12 / cache.rate.0;
    let moves = move |transfer: &Transfer, _: &mut Random<'_>| {
        Span((transfer.size as f64 * per_byte + 0.5) as u64)
    };
    let from = page.place::<Transfer>("asked");
    let moving = page.station("cache", Fcfs::new(1, moves));
    let held = page.place::<Transfer>("held");
    let behind = page.bag::<MemberTransfer>("behind");
    let destagers = page.place::<()>("destagers");
    let clock = page.place::<()>("clock");
    let number = cache.destages as usize;
    page.tokens(destagers, move |_| vec![(); number]);
    page.rest(destagers);
    let stripe = spec.chunk.0.saturating_mul(data);
    let held_by = Cache::new(cache, stripe);
    let state = page.store("cache state", move |_| State {
        cache: held_by.clone(),
        capacity,
        inside: 0,
        last: headrace_net::Time::ZERO,
        clock: false,
    });
    cache_counts::report(
        page,
        state,
        "controller cache",
        |state| state.cache.counts(),
        Some(|state| state.cache.dirty_bytes()),
    );
    let submit = members.submit;
    let asked = Members { behind, submit };

    page.transition("look")
        .take(from)
        .with(state)
        .may_put(clock)
        .later()
        .may_put(moving)
        .may_put(done)
        .may_put(behind)
        .may_put(submit)
        .fires(move |firing, transfer: Transfer, state| {
            state.last = firing.now();
            state.cache.idle = false;
            if state.cache.is_dirty() && !state.clock {
                state.clock = true;
                firing.put_after(clock, (), idle_time);
            }
            let (address, size) = state.place(&transfer);
            let reading = transfer.operation == Operation::Read;
            if transfer.operation == Operation::Sync && write_back {
                firing.put(done, transfer);
                return;
            }
            state.inside += 1;
            let here = reading && state.cache.read(address, size);
            if here || transfer.operation == Operation::Write {
                firing.put(moving, transfer);
                return;
            }
            asked.ask(firing, transfer, false);
        });
    page.transition("moved")
        .take(moving)
        .with(state)
        .may_put(held)
        .may_put(done)
        .may_put(behind)
        .may_put(submit)
        .fires(move |firing, transfer: Transfer, state| {
            if transfer.operation == Operation::Read {
                state.inside -= 1;
                firing.put(done, transfer);
            } else if write_back && state.cache.could_hold(transfer.size) {
                state.cache.waiting += 1;
                firing.put(held, transfer);
            } else {
                asked.ask(firing, transfer, false);
            }
        });
    // It precedes destaging for a waiting request.
    page.transition("hold")
        .take(held)
        .with(state)
        .when(|transfer: &Transfer, state| state.cache.has_room(transfer.size))
        .priority(1)
        .may_put(clock)
        .later()
        .puts(done)
        .fires(move |firing, transfer: Transfer, state| {
            let (address, size) = state.place(&transfer);
            state.cache.waiting -= 1;
            state.cache.write(address, size);
            state.inside -= 1;
            if !state.clock {
                state.clock = true;
                firing.put_after(clock, (), idle_time);
            }
            firing.put(done, transfer);
        });
    page.transition("idle")
        .take(clock)
        .with(state)
        .may_put(clock)
        .later()
        .fires(move |firing, (), state| {
            let quiet = firing.now().since(state.last);
            let idle = quiet >= idle_time && state.inside == 0;
            state.clock = state.cache.is_dirty() && !idle;
            state.cache.idle = idle;
            if state.clock {
                let later = state.inside == 0;
                let rest = if later { idle_time - quiet } else { idle_time };
                firing.put_after(clock, (), rest);
            }
        });
    page.transition("destage")
        .take(destagers)
        .with(state)
        .when(|(), state| state.cache.destages())
        .puts(behind)
        .puts(submit)
        .fires(move |firing, (), state| {
            let (address, size) = state.cache.destage().unwrap_or_default();
            let transfer = Transfer::new(Operation::Write, address, size);
            asked.ask(firing, transfer, true);
        });
    page.transition("from the members")
        .take(members.done)
        .with(state)
        .may_take(behind)
        .may_put(moving)
        .may_put(done)
        .may_put(destagers)
        .fires(move |firing, back: Transfer, state| {
            let Some(it) = back.owner.and_then(|slot| firing.take(behind, Slot(slot))) else {
                return;
            };
            let (address, size) = state.place(&it.transfer);
            if it.destages {
                state.cache.written(address, size);
                firing.put(destagers, ());
                return;
            }
            if it.transfer.operation != Operation::Sync {
                state.cache.keep(address, size);
            }
            if it.transfer.operation == Operation::Read {
                firing.put(moving, it.transfer);
            } else {
                state.inside -= 1;
                firing.put(done, it.transfer);
            }
        });
    BlockDevice { submit: from, done }
}
