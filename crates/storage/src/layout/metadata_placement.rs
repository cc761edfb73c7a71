//! The metadata server of each file.

use headrace_spec::{Distribution, Parallel};
use headrace_workload::Directories;

/// Placement of files on metadata servers.
#[derive(Clone, Debug)]
pub struct MetadataPlacement {
    servers: u32,
    /// Directories of all files, if the placement depends on them.
    directories: Option<Directories>,
}

impl MetadataPlacement {
    /// The scenario's, of files that lie in these directories.
    pub fn new(parallel: &Parallel, directories: &Directories) -> MetadataPlacement {
        let by_directory = parallel.metadata.distribution == Distribution::Directory;
        MetadataPlacement {
            servers: parallel.metadata_servers(),
            directories: by_directory.then(|| directories.clone()),
        }
    }

    /// The server.
    pub fn server_of(&self, file: u32) -> u32 {
        match &self.directories {
            Some(directories) => directories.of(file) % self.servers,
            None => (file_hash(file) % u64::from(self.servers)) as u32,
        }
    }
}

/// A number that says nothing of the file's (Fibonacci hashing: Knuth, The Art of
/// Computer Programming 3, section 6.4).
pub fn file_hash(file: u32) -> u64 {
    u64::from(file).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20
}
