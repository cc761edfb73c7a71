//! The metadata server of each file.

use headrace_spec::{Distribution, Metadata, Parallel};
use headrace_workload::Directories;

/// Placement of files on metadata servers.
#[derive(Clone, Debug)]
pub struct MetadataPlacement {
    servers: u32,
    rule: Rule,
}

/// How a file's server is found.
#[derive(Clone, Debug)]
enum Rule {
    /// By a hash of its number.
    Hash,
    /// By its directory, in turn.
    Directory(Directories),
    /// By the longest of some subtrees that it lies in.
    Subtree(Directories, Subtrees),
}

impl MetadataPlacement {
    /// The scenario's, of files that lie in these directories.
    pub fn new(parallel: &Parallel, directories: &Directories) -> MetadataPlacement {
        let metadata = &parallel.metadata;
        MetadataPlacement {
            servers: parallel.metadata_servers(),
            rule: match metadata.distribution {
                Distribution::File => Rule::Hash,
                Distribution::Directory => Rule::Directory(directories.clone()),
                Distribution::Subtree => {
                    Rule::Subtree(directories.clone(), Subtrees::new(metadata))
                }
            },
        }
    }

    /// The server.
    pub fn server_of(&self, file: u32) -> u32 {
        match &self.rule {
            Rule::Hash => (file_hash(file) % u64::from(self.servers)) as u32,
            Rule::Directory(directories) => directories.of(file) % self.servers,
            Rule::Subtree(directories, subtrees) => {
                subtrees.server_of(directories.in_workload(file))
            }
        }
    }
}

/// Static subtree partitioning: directories, and all below them, on servers that the scenario
/// names (Weil, Pollack, Brandt, Miller: SC 2004, section 3.1.1).
#[derive(Clone, Debug)]
struct Subtrees {
    /// The workload, the directory in it, and the server; the longest paths first.
    of: Vec<(Option<u32>, Option<u32>, u32)>,
}

impl Subtrees {
    fn new(metadata: &Metadata) -> Subtrees {
        let subtrees = metadata.subtrees().iter();
        let parts = subtrees.filter_map(|it| it.parts().map(|(a, b)| (a, b, it.server)));
        let mut of: Vec<_> = parts.collect();
        of.sort_by_key(|(workload, directory, _)| (directory.is_none(), workload.is_none()));
        Subtrees { of }
    }

    fn server_of(&self, (workload, directory): (u32, u32)) -> u32 {
        let matches = |part: Option<u32>, number| part.is_none_or(|part| part == number);
        let mut holding = self.of.iter();
        let found = holding.find(|it| matches(it.0, workload) && matches(it.1, directory));
        found.map_or(0, |it| it.2)
    }
}

/// A hash that is independent of the file's number (Fibonacci hashing: Knuth, The Art of Computer
/// Programming 3, section 6.4).
pub fn file_hash(file: u32) -> u64 {
    u64::from(file).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_subtree_tells_the_server() {
        let of = vec![(Some(1), Some(3), 2), (Some(1), None, 1), (None, None, 4)];
        let subtrees = Subtrees { of };
        let server = |workload, directory| subtrees.server_of((workload, directory));
        assert_eq!([server(1, 3), server(1, 2), server(0, 3)], [2, 1, 4]);
        let none = Subtrees { of: Vec::new() };
        assert_eq!(none.server_of((0, 0)), 0);
    }
}
