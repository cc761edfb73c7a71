//! Waiting calls: the bags in which they lie, by their condition.
//!
//! A waiter is known by its bag and its slot there, in one number. The time that processes spend in
//! the bags tells what holds them back (`measure/local.rs`); calls of the kernel's own lie apart.

use headrace_net::{Firing, Node, Slot, To};

use super::call::{Call, Caller};
use super::volume::Wait;

/// A bag of waiting calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(super) enum Bag {
    /// In the volume's page: processes that wait for transfers of their own.
    Transfers,
    /// In the volume's page: the kernel, for anything but the transfers of a commit.
    Kernel,
    /// In the page cache: processes that wait for pages.
    Pages,
    /// In the flusher: processes that wait for write-back in progress.
    WriteBack,
    /// In the flusher: writers that wait for room among the dirty pages.
    DirtyRoom,
    /// In the journal: processes that wait for a commit.
    Commit,
    /// In the journal: processes that wait for room in it.
    JournalRoom,
    /// In the journal: writers of pages that are on their way into it.
    JournalTransfer,
    /// In the journal: commits and checkpoints that wait for their transfers.
    Committing,
}

/// Number of bags.
pub(super) const BAGS: usize = 9;

const ALL: [Bag; BAGS] = [
    Bag::Transfers,
    Bag::Kernel,
    Bag::Pages,
    Bag::WriteBack,
    Bag::DirtyRoom,
    Bag::Commit,
    Bag::JournalRoom,
    Bag::JournalTransfer,
    Bag::Committing,
];

/// Bits of a waiter that are its slot.
const SLOT_BITS: u32 = 28;

impl Bag {
    /// Where a call waits.
    pub fn of(caller: Caller, wait: Wait) -> Bag {
        match (caller, wait) {
            (Caller::Journal | Caller::Checkpoint, Wait::Transfers) => Bag::Committing,
            (Caller::Flusher | Caller::Journal | Caller::Checkpoint | Caller::Lock, _) => {
                Bag::Kernel
            }
            (_, Wait::Transfers) => Bag::Transfers,
            (_, Wait::Page(..)) => Bag::Pages,
            (_, Wait::Written(_)) => Bag::WriteBack,
            (_, Wait::DirtyRoom) => Bag::DirtyRoom,
            (_, Wait::Commit(_)) => Bag::Commit,
            (_, Wait::JournalRoom) => Bag::JournalRoom,
            (_, Wait::Logged(_)) => Bag::JournalTransfer,
        }
    }

    /// The number of a waiter that lies here.
    pub fn waiter(self, slot: Slot) -> u32 {
        ((self as u32) << SLOT_BITS) | slot.0
    }

    /// A waiter's bag and its slot there.
    pub fn found(waiter: u32) -> (Bag, Slot) {
        let bag = ALL[(waiter >> SLOT_BITS) as usize];
        (bag, Slot(waiter & ((1 << SLOT_BITS) - 1)))
    }
}

/// A waiter in a bag of another page: a transfer of its own is done, or its condition holds now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    pub waiter: u32,
}

/// Targets of a page that puts calls into the bags.
pub(super) type BagTargets = [Option<To<Call>>; BAGS];

/// Bags that the transitions of a page take from: its own, and those of the page around it.
#[derive(Clone, Copy, Default)]
pub(super) struct Bags([Option<Node<Call>>; BAGS]);

impl Bags {
    /// The same with one more.
    pub fn with(mut self, bag: Bag, node: Node<Call>) -> Bags {
        self.0[bag as usize] = Some(node);
        self
    }

    /// All of them.
    pub fn nodes(self) -> impl Iterator<Item = Node<Call>> {
        self.0.into_iter().flatten()
    }

    /// Takes a waiter; gives a signal for it if its bag is in another page.
    pub fn take(self, firing: &mut Firing<'_>, waiter: u32) -> Result<Option<Call>, Signal> {
        let (bag, slot) = Bag::found(waiter);
        match self.0[bag as usize] {
            Some(node) => Ok(firing.take(node, slot)),
            None => Err(Signal { waiter }),
        }
    }

    /// A transfer of a waiter's is done: takes it if that was the last.
    pub fn transfer_done(
        self,
        firing: &mut Firing<'_>,
        waiter: u32,
    ) -> Result<Option<Call>, Signal> {
        let (bag, slot) = Bag::found(waiter);
        let Some(node) = self.0[bag as usize] else {
            return Err(Signal { waiter });
        };
        let call = firing.token_mut(node, slot);
        call.transfers -= 1;
        match call.transfers {
            0 => Ok(firing.take(node, slot)),
            _ => Ok(None),
        }
    }
}
