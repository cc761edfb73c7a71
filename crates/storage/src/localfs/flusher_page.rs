//! The page of the flusher: its writes, and the calls that wait for it.
//!
//! ```text
//!   work ─▶ [write back] ─▶ (processor)
//!   timer ─▶ [look for old pages] ─▶ device, work
//!   written ─▶ [end write-back] ─▶ device, work; waiting for write-back, waiting for dirty pages ─▶ ready
//!   room ─▶ [let in] ─▶ ready
//!   throttle ─▶ (throttled) ─▶ [let go] ─▶ ready
//! ```
//!
//! Dirty data and the throttling of writers are in the store of the
//! [flushers](super::flusher::Flusher).

use headrace_net::{Infinite, Page, Port, Random, Span};

use super::call::{Call, Stage};
use super::calls::{Mounted, Places};
use super::volume::Tick;
use super::volume_stores::VolumeStores;
use super::waiting::{Bag, Signal};
use crate::tokens::Transfer;

/// The ways into the page.
#[derive(Clone, Copy)]
pub(super) struct FlusherPorts {
    /// The flusher's processor time for its submissions.
    pub work: Port<Call>,
    /// Old pages are to be looked for.
    pub timer: Port<Tick>,
    /// Completed writes of files.
    pub written: Port<Transfer>,
    /// Waiters for which there is room among the dirty pages.
    pub room: Port<Signal>,
    /// Writers that have to pause.
    pub throttle: Port<Call>,
    pub wait_for_write_back: Port<Call>,
    pub wait_for_room: Port<Call>,
}

/// Writes the page.
pub(super) fn write<S: VolumeStores>(
    page: &mut Page<'_>,
    places: Places,
    mounted: Mounted<S>,
) -> FlusherPorts {
    let ports = FlusherPorts {
        work: page.input("work"),
        timer: page.input("timer"),
        written: page.input("written"),
        room: page.input("room"),
        throttle: page.input("throttle"),
        wait_for_write_back: page.input("wait for write-back"),
        wait_for_room: page.input("wait for room"),
    };
    let pause = |call: &Call, _: &mut Random<'_>| call.time;
    let throttled = page.station("throttled", Infinite(pause));
    let write_back = page.bag("waiting for write-back");
    let dirty_room = page.bag("waiting for dirty pages");
    let work = page.place("to be charged");
    let timer = page.place("due");
    let written = page.place("written back");
    let room = page.place("with room");
    page.rest(timer);
    page.connect(ports.throttle, throttled);
    page.connect(ports.wait_for_write_back, write_back);
    page.connect(ports.wait_for_room, dirty_room);
    page.connect(ports.work, work);
    page.connect(ports.timer, timer);
    page.connect(ports.written, written);
    page.connect(ports.room, room);
    let scope = places.scope(&[(Bag::WriteBack, write_back), (Bag::DirtyRoom, dirty_room)]);

    page.transition("let go")
        .take(throttled)
        .put(places.ready, |_, call: Call, ()| Call {
            time: Span::ZERO,
            ..call
        });
    page.transition("write back")
        .take(work)
        .put(places.processor, |_, call: Call, ()| Call {
            stage: Stage::Returning,
            ..call
        });
    scope.end_transfers(page, "end write-back", written, mounted);
    scope.look(page, "look for old pages", timer, mounted);
    page.transition("let in")
        .take(room)
        .may_take(dirty_room)
        .may_put(places.ready)
        .fires(move |firing, signal: Signal, ()| scope.wake_one(firing, signal.waiter));
    ports
}
