//! Writes on their way from a server's page cache to its devices.
//!
//! An fsync waits for all those of its file: of a writer over the dirty limit, an eviction, or the
//! fsync itself (Linux, mm/filemap.c: `file_write_and_wait_range`).

use std::collections::BTreeMap;

use smallvec::SmallVec;

/// The bit of a transfer's owner that tells a write's number from a job's slot: bags have
/// fewer tokens than that.
const WRITE: u32 = 1 << 31;

/// Writes in progress on one server.
#[derive(Debug, Default)]
pub(super) struct WritesInFlight {
    writes: BTreeMap<u32, Write>,
    next: u32,
}

/// A write, and the calls that wait for it.
#[derive(Debug)]
pub(super) struct Write {
    /// The cache that the data came from, and the file's name in it.
    file: (usize, u32),
    /// The slot of the job that sent it and waits for it, if one does.
    pub job: Option<u32>,
    /// The slots of jobs that bring the file to the device.
    pub syncs: SmallVec<[u32; 1]>,
}

impl WritesInFlight {
    /// A write of a file goes to a device; gives the owner of its transfer.
    pub fn begin(&mut self, file: (usize, u32), job: Option<u32>) -> u32 {
        let number = self.next | WRITE;
        self.next = (self.next + 1) & !WRITE;
        let syncs = SmallVec::new();
        self.writes.insert(number, Write { file, job, syncs });
        number
    }

    /// A transfer is done; gives the write that it was, if it was one.
    pub fn end(&mut self, owner: u32) -> Option<Write> {
        self.writes.remove(&owner)
    }

    /// The job with this slot waits for all writes of a file; gives their number.
    pub fn wait(&mut self, file: (usize, u32), job: u32) -> u32 {
        let of_file = self.writes.values_mut().filter(|it| it.file == file);
        let mut found = 0;
        for write in of_file {
            write.syncs.push(job);
            found += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_waits_for_writes_of_its_file_that_were_under_way_before_it() {
        let mut writes = WritesInFlight::default();
        let (first, other) = (writes.begin((0, 7), Some(3)), writes.begin((1, 7), None));
        let second = writes.begin((0, 7), None);
        assert_eq!(writes.wait((0, 7), 5), 2);
        let later = writes.begin((0, 7), None);
        let waiters = |write: Option<Write>| write.map(|it| (it.job, it.syncs.to_vec()));
        assert_eq!(waiters(writes.end(first)), Some((Some(3), vec![5])));
        assert_eq!(waiters(writes.end(other)), Some((None, vec![])));
        assert_eq!(waiters(writes.end(later)), Some((None, vec![])));
        assert_eq!(waiters(writes.end(second)), Some((None, vec![5])));
        assert_eq!(waiters(writes.end(second)), None);
    }
}
