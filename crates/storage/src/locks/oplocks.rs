//! The server's table of opportunistic locks. The client (`client/oplocks.rs`) obeys them.

use std::collections::{BTreeMap, BTreeSet};

/// Permitted caching of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lock {
    /// By this client, reads and writes.
    Exclusive(u32),
    /// By all that have opened it, reads.
    LevelTwo,
    /// No client holds it.
    Broken,
}

#[derive(Clone, Debug)]
struct Held {
    lock: Lock,
    /// By client: how often its programs have it open.
    clients: BTreeMap<u32, u32>,
}

/// The server's table of locks.
#[derive(Clone, Default, Debug)]
pub struct Oplocks {
    files: BTreeMap<u32, Held>,
    /// Files and clients that have closed them.
    left: BTreeSet<(u32, u32)>,
    level_two: bool,
}

impl Oplocks {
    /// None held yet; level II is granted or not.
    pub fn new(level_two: bool) -> Oplocks {
        Oplocks {
            level_two,
            ..Oplocks::default()
        }
    }

    /// A client opens a file at the server, for a program that does or to read or write it. Returns
    /// the client that has to release its lock first.
    pub fn open(&mut self, file: u32, client: u32, program: bool) -> Option<u32> {
        let held = self.files.entry(file).or_insert_with(|| Held {
            lock: Lock::Exclusive(client),
            clients: BTreeMap::new(),
        });
        let opens = held.clients.entry(client).or_default();
        if program || *opens == 0 {
            *opens += 1;
        }
        match held.lock {
            Lock::Exclusive(holder) if holder != client => {
                held.lock = if held.clients.get(&holder) == Some(&0) {
                    // It closes the file now.
                    held.clients.remove(&holder);
                    self.left.insert((file, holder));
                    Lock::Exclusive(client)
                } else if self.level_two {
                    Lock::LevelTwo
                } else {
                    Lock::Broken
                };
                Some(holder)
            }
            _ => None,
        }
    }

    /// A program opens a file that its client has open.
    pub fn open_again(&mut self, file: u32, client: u32) {
        let held = self.files.get_mut(&file);
        if let Some(opens) = held.and_then(|it| it.clients.get_mut(&client)) {
            *opens += 1;
        }
    }

    /// A program closes a file; gives whether its client tells the server.
    pub fn close(&mut self, file: u32, client: u32) -> bool {
        let Some(held) = self.files.get_mut(&file) else {
            return false;
        };
        let Some(opens) = held.clients.get_mut(&client) else {
            return false;
        };
        *opens = opens.saturating_sub(1);
        if *opens > 0 || held.lock == Lock::Exclusive(client) {
            return false;
        }
        held.clients.remove(&client);
        self.left.insert((file, client));
        if held.clients.is_empty() {
            self.files.remove(&file);
        }
        true
    }

    /// Returns true if a client reopens a file: others may have changed its cached data.
    pub fn comes_back(&mut self, file: u32, client: u32) -> bool {
        self.left.remove(&(file, client))
    }

    /// A client writes a file that it has opened.
    pub fn write(&mut self, file: u32) {
        if let Some(held) = self.files.get_mut(&file)
            && held.lock == Lock::LevelTwo
        {
            held.lock = Lock::Broken;
        }
    }

    /// Returns true if a client knows a file's attributes because no other client can change them.
    pub fn holds(&self, file: u32, client: u32) -> bool {
        self.files
            .get(&file)
            .is_some_and(|held| held.clients.contains_key(&client) && held.lock != Lock::Broken)
    }

    /// Returns true if no client may cache a file.
    pub fn is_broken(&self, file: u32) -> bool {
        let held = self.files.get(&file);
        held.is_some_and(|it| it.lock == Lock::Broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lock_is_exclusive_then_shared_then_broken() {
        let mut locks = Oplocks::new(true);
        assert_eq!(locks.open(7, 0, true), None);
        locks.write(7);
        assert_eq!(locks.open(7, 0, true), None);
        assert!(locks.holds(7, 0) && !locks.holds(7, 1));
        assert_eq!(locks.open(7, 1, true), Some(0));
        assert_eq!(locks.open(7, 2, true), None);
        assert!(locks.holds(7, 0) && locks.holds(7, 1) && !locks.is_broken(7));
        locks.write(7);
        assert!(locks.is_broken(7) && !locks.holds(7, 0));
        assert!(!locks.is_broken(8));
    }

    /// A file may be cached again when all clients have closed it.
    #[test]
    fn a_file_that_all_have_closed_is_as_new() {
        let mut locks = Oplocks::new(true);
        locks.open(7, 0, true);
        assert!(!locks.close(7, 0) && locks.holds(7, 0));
        // An unused lock delays no client.
        assert_eq!(locks.open(7, 1, true), Some(0));
        assert!(locks.holds(7, 1) && !locks.holds(7, 0));
        assert!(locks.comes_back(7, 0) && !locks.comes_back(7, 0));
        assert_eq!(locks.open(7, 0, true), Some(1));
        // To read it opens it no more.
        assert_eq!(locks.open(7, 0, false), None);
        locks.write(7);
        assert!(locks.is_broken(7));
        assert!(locks.close(7, 0) && locks.is_broken(7));
        assert!(locks.close(7, 1) && !locks.is_broken(7));
        assert!(!locks.close(7, 1));
        assert_eq!(locks.open(7, 1, true), None);
        assert!(locks.holds(7, 1));
    }

    proptest! {
        /// Never may one client cache writes while another may cache anything.
        #[test]
        fn nobody_else_caches_what_one_may_write(
            level_two: bool,
            steps in prop::collection::vec(
                (0_u32..4, 0_u32..3, any::<bool>(), any::<bool>()), 0..60,
            ),
        ) {
            let mut locks = Oplocks::new(level_two);
            for (client, file, writes, closes) in steps {
                if closes {
                    locks.close(file, client);
                } else {
                    locks.open(file, client, true);
                    if writes {
                        locks.write(file);
                    }
                }
                for file in 0..3 {
                    let holders = (0..4).filter(|&it| locks.holds(file, it)).count();
                    let lock = locks.files.get(&file).map(|it| it.lock);
                    match lock {
                        Some(Lock::Exclusive(_)) => prop_assert_eq!(holders, 1),
                        Some(Lock::LevelTwo) => prop_assert!(level_two && holders > 0),
                        _ => prop_assert_eq!(holders, 0),
                    }
                }
            }
        }
    }
}
