//! The page of the journal: commits and checkpoints, and the calls that wait for them.
//!
//! ```text
//!   begin ─▶ [commit] ─▶ (device) and committing, until its transfers are done
//!     ▲         └─▶ waiting for a commit, for room in the journal ─▶ ready
//!     └─ committing ◀─ [end transfer] ◀─ logged
//!   timer ─▶ [look at age] ─▶ commit
//! ```
//!
//! A commit is a call of the kernel's own. It writes the data of files that grew, descriptors and
//! blocks, and the record, and waits in "committing" for each. A checkpoint, which makes room, goes
//! the same way. The content of transactions is in the store of the
//! [journal](super::journal::Journal).

use headrace_net::{Page, Port};

use super::call::Call;
use super::calls::{Mounted, Places};
use super::volume::Tick;
use super::volume_stores::VolumeStores;
use super::waiting::{Bag, Signal};
use crate::tokens::Transfer;

/// The ways into the page.
#[derive(Clone, Copy)]
pub(super) struct JournalPorts {
    /// Commits and checkpoints that begin.
    pub commit: Port<Call>,
    /// The age of the running transaction is to be looked at.
    pub timer: Port<Tick>,
    /// Completed transfers of the file system's own blocks.
    pub logged: Port<Transfer>,
    /// Commits of which a transfer of a file's data is done.
    pub transferred: Port<Signal>,
    pub wait_for_commit: Port<Call>,
    pub wait_for_room: Port<Call>,
    pub wait_for_transfer: Port<Call>,
}

/// Writes the page.
pub(super) fn write<S: VolumeStores>(
    page: &mut Page<'_>,
    places: Places,
    mounted: Mounted<S>,
) -> JournalPorts {
    let ports = JournalPorts {
        commit: page.input("begin"),
        timer: page.input("timer"),
        logged: page.input("logged"),
        transferred: page.input("transferred"),
        wait_for_commit: page.input("wait for a commit"),
        wait_for_room: page.input("wait for room"),
        wait_for_transfer: page.input("wait for a transfer"),
    };
    let commit_waiters = page.bag("waiting for a commit");
    let room_waiters = page.bag("waiting for room in the journal");
    let transfer_waiters = page.bag("waiting for a transfer into the journal");
    let committing = page.bag("committing");
    let commits = page.place("to commit");
    let timer = page.place("due");
    let logged = page.place("written to the journal");
    let transferred = page.place("data written");
    page.rest(timer);
    page.connect(ports.commit, commits);
    page.connect(ports.timer, timer);
    page.connect(ports.logged, logged);
    page.connect(ports.transferred, transferred);
    page.connect(ports.wait_for_commit, commit_waiters);
    page.connect(ports.wait_for_room, room_waiters);
    page.connect(ports.wait_for_transfer, transfer_waiters);
    let scope = places.scope(&[
        (Bag::Commit, commit_waiters),
        (Bag::JournalRoom, room_waiters),
        (Bag::JournalTransfer, transfer_waiters),
        (Bag::Committing, committing),
    ]);
    let Mounted { number, stores, .. } = mounted;

    let commit = page.transition("commit").take(commits).with_all(stores);
    scope.steps(commit).fires(move |firing, call: Call, parts| {
        scope.proceed(firing, call, S::step(parts, number))
    });
    scope.end_transfers(page, "end transfer", logged, mounted);
    page.transition("end transfer of data")
        .take(transferred)
        .may_take(committing)
        .may_put(places.kernel)
        .fires(move |firing, signal: Signal, ()| scope.transfer_done(firing, signal.waiter));
    scope.look(page, "look at age", timer, mounted);
    ports
}
