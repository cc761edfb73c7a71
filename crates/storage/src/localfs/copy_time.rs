//! Cost of copies between the page cache and a process.
//!
//! A page takes T_L2 while the request's pages fit into the share of the
//! second-level cache that the copy can use (Nguyen 2011, §4.5: S_threshold).
//! The pages of a larger request beyond that take T_memory. A third level makes
//! a third time between the two. The mean per page of n pages is then the
//! published ((S_threshold/S_page)·T_L2 + x·T_memory) / (S_threshold/S_page +
//! x).
//!
//! Copies into the page cache take `write_share` of that.
//!
//! The module `last_level_cache` tracks the data in the last cache level.
//!
//! Not modelled: the process's buffers in the caches: a process that reads into changing buffers
//! finds nothing cached however small they are; copies of several cores at once, which share the
//! path to memory; the translation buffer; interrupts and preemption.

use headrace_net::Span;
use headrace_spec::{Bytes, Copying, Seconds};

use crate::time_conversion::part_of;

/// The time of copies.
#[derive(Clone, Copy, Debug)]
pub struct CopyTime {
    /// Bytes of a request at the first rate, and at the first or the second.
    thresholds: [f64; 2],
    /// Picoseconds a byte below the first, below the second, and beyond.
    times: [f64; 3],
    /// Cost of a copy into the page cache relative to a copy out of it.
    write_share: f64,
}

impl CopyTime {
    /// The copy times of the scenario, with pages of `page` bytes.
    pub fn new(spec: &Copying, page: u64) -> CopyTime {
        let share = |cache: Bytes, share: f64| cache.0 as f64 * share;
        let per_byte = |time: Seconds| time.0 * 1e12 / page as f64;
        let first = share(spec.l2, spec.l2_share);
        CopyTime {
            thresholds: [first, share(spec.l3, spec.l3_share).max(first)],
            times: [
                per_byte(spec.page_in_l2),
                per_byte(spec.page_in_l3),
                per_byte(spec.page_in_memory),
            ],
            write_share: spec.write_share,
        }
    }

    /// Time to copy `bytes` of a request of `size` bytes into the page cache.
    pub fn of_write(&self, bytes: u64, size: u64) -> Span {
        part_of(self.of(bytes, size), self.write_share)
    }

    /// Copying `bytes` of a request of `size` bytes out of it.
    pub fn of(&self, bytes: u64, size: u64) -> Span {
        let size = size.max(bytes) as f64;
        if size == 0.0 {
            return Span::ZERO;
        }
        let [first, second] = self.thresholds;
        let inner = size.min(first);
        let middle = (size.min(second) - inner).max(0.0);
        let outer = size - inner - middle;
        let all = inner * self.times[0] + middle * self.times[1] + outer * self.times[2];
        Span((all * (bytes as f64 / size) + 0.5) as u64)
    }
}

/// Copies that take no time, on a processor without caches.
#[cfg(test)]
pub(super) const NO_TIME: Copying = Copying {
    l2: Bytes(0),
    l2_share: 0.0,
    l3: Bytes(0),
    l3_share: 0.0,
    page_in_l2: Seconds(0.0),
    page_in_l3: Seconds(0.0),
    page_in_memory: Seconds(0.0),
    l3_reach: Bytes(0),
    reuse_share: 1.0,
    write_share: 1.0,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(l3: u64) -> CopyTime {
        let spec = Copying {
            l2: Bytes(512 << 10),
            l2_share: 0.125,
            l3: Bytes(l3),
            l3_share: 0.125,
            page_in_l2: Seconds(1e-6),
            page_in_l3: Seconds(2e-6),
            page_in_memory: Seconds(4e-6),
            write_share: 0.75,
            ..NO_TIME
        };
        CopyTime::new(&spec, 4096)
    }

    /// Seconds a page.
    fn mean(copy: CopyTime, size: u64) -> f64 {
        copy.of(size, size).as_seconds() / (size as f64 / 4096.0)
    }

    #[test]
    fn a_page_takes_the_mean_of_nguyens_formula() {
        let copy = machine(0);
        for pages in [1, 2, 16] {
            assert!((mean(copy, pages * 4096) - 1e-6).abs() < 1e-12, "{pages}");
        }
        // 16 pages fit into an eighth of 512 KiB; x are beyond.
        for x in [1.0, 16.0, 240.0] {
            let expected = (16.0 * 1e-6 + x * 4e-6) / (16.0 + x);
            let size = (16 + x as u64) * 4096;
            assert!((mean(copy, size) - expected).abs() < 1e-12, "{x}");
        }
        assert!((mean(copy, 1 << 34) - 4e-6).abs() < 1e-10);
    }

    #[test]
    fn a_third_level_has_its_own_time() {
        let copy = machine(4 << 20);
        // 16 pages at the first, 112 at the second, the rest at the third rate.
        let expected = (16.0 * 1e-6 + 112.0 * 2e-6 + 128.0 * 4e-6) / 256.0;
        assert!((mean(copy, 1 << 20) - expected).abs() < 1e-12);
    }

    #[test]
    fn pieces_of_a_request_cost_what_the_request_costs() {
        let copy = machine(0);
        let whole = copy.of(1 << 20, 1 << 20);
        let pieces: u64 = (0..16).map(|_| copy.of(64 << 10, 1 << 20).0).sum();
        assert!(pieces.abs_diff(whole.0) <= 16);
    }

    #[test]
    fn copies_into_the_page_cache_take_their_share() {
        let copy = machine(0);
        let out = copy.of(1 << 20, 1 << 20).as_seconds();
        let into = copy.of_write(1 << 20, 1 << 20).as_seconds();
        assert!((into / out - 0.75).abs() < 1e-9, "{into} of {out}");
    }
}
