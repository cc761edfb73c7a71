//! Callers that wait for the journal.

/// Waiters by their condition.
#[derive(Default, Debug)]
pub(super) struct Waiters {
    /// The end of a transaction's commit, by its number.
    commit: Vec<(u64, u32)>,
    /// Room in the journal.
    room: Vec<u32>,
    /// A transfer of data into the journal, by its address.
    transfer: Vec<(u64, u32)>,
}

impl Waiters {
    pub fn wait_for_commit(&mut self, id: u64, waiter: u32) {
        self.commit.push((id, waiter));
    }

    pub fn wait_for_room(&mut self, waiter: u32) {
        self.room.push(waiter);
    }

    pub fn wait_for_transfer(&mut self, address: u64, waiter: u32) {
        self.transfer.push((address, waiter));
    }

    /// Takes the calls that waited for a transaction, or one before it.
    pub fn committed(&mut self, id: u64) -> Vec<u32> {
        let ready = self.commit.extract_if(.., |it| it.0 <= id);
        ready.map(|(_, waiter)| waiter).collect()
    }

    /// Takes the calls that waited for room.
    pub fn room(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.room)
    }

    /// Takes the calls that waited for a transfer.
    pub fn transferred(&mut self, address: u64) -> Vec<u32> {
        let ready = self.transfer.extract_if(.., |it| it.0 == address);
        ready.map(|(_, waiter)| waiter).collect()
    }
}
