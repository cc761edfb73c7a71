//! What processes read into and write from.

/// What memory is aligned to that direct transfers go to and from: the largest logical
/// block of usual devices.
const ALIGNMENT: usize = 4096;

/// Memory that direct transfers can go to and from.
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    first: usize,
    size: usize,
}

impl Buffer {
    /// So many bytes, which no compression makes smaller.
    #[must_use]
    pub fn new(size: usize, seed: u64) -> Buffer {
        let mut memory = vec![0; size + ALIGNMENT];
        let first = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        let mut counter = 0;
        let mut random = headrace_net::Random::named(seed, "data", &mut counter);
        for bytes in memory.chunks_mut(8) {
            let drawn = random.bits().to_ne_bytes();
            bytes.copy_from_slice(&drawn[..bytes.len()]);
        }
        Buffer {
            memory,
            first,
            size,
        }
    }

    /// The first bytes of it.
    #[must_use]
    pub fn bytes(&self, size: usize) -> &[u8] {
        &self.memory[self.first..self.first + size.min(self.size)]
    }

    /// The first bytes of it, to be changed.
    pub fn bytes_mut(&mut self, size: usize) -> &mut [u8] {
        let first = self.first;
        &mut self.memory[first..first + size.min(self.size)]
    }
}
