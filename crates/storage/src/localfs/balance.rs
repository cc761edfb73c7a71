//! When writers must wait for dirty pages to be written: balance_dirty_pages of
//! Linux 6.18, mm/page-writeback.c.
//!
//! Up to halfway between the background limit and the limit nobody waits. Above,
//! a writer is held back so that its rate is the estimate of what one writer may
//! dirty, times a factor that falls from 2 at the halfway mark over 1 at the
//! setpoint to 0 at the limit: 1 − ((dirty − setpoint) / (limit − setpoint))³,
//! the setpoint being the middle (pos_ratio_polynom). The estimate begins at
//! 100 MB/s (INIT_BW); the kernel changes it slowly, the model follows a device
//! that proves faster and otherwise leaves it.
//!
//! Not modelled: limits per device and per control group, the share of a device
//! among several.

use headrace_net::{Span, Time};

/// Longest time that a writer is held back at once (MAX_PAUSE).
const LONGEST_PAUSE: Span = Span(200_000_000_000);

/// The first estimate, in bytes a second (INIT_BW: 100 MiB/s).
const FIRST_ESTIMATE: f64 = 104_857_600.0;

/// How often the device's rate is looked at (BANDWIDTH_INTERVAL).
const INTERVAL: Span = Span(200_000_000_000);

/// Limits of dirty data, in bytes, and the rate at which writers may add to it.
#[derive(Clone, Copy, Debug)]
pub struct Balance {
    /// Above this the kernel writes in the background.
    pub background: u64,
    /// Never exceeded.
    pub limit: u64,
    estimate: f64,
    looked: Time,
    written: u64,
}

impl Balance {
    /// Limits as given; a background limit that is no lower than the limit counts
    /// as half of it (domain_dirty_limits).
    pub fn new(background: u64, limit: u64) -> Balance {
        Balance {
            background: if background >= limit {
                limit / 2
            } else {
                background
            },
            limit,
            estimate: FIRST_ESTIMATE,
            looked: Time::ZERO,
            written: 0,
        }
    }

    /// Bytes below which nobody waits.
    pub fn free_run(&self) -> u64 {
        self.background + (self.limit - self.background) / 2
    }

    /// How long a writer waits that has just dirtied so many bytes, with `dirty`
    /// in all.
    pub fn pause(&self, dirty: u64, bytes: u64) -> Span {
        let free_run = self.free_run();
        if dirty <= free_run {
            return Span::ZERO;
        }
        let (free_run, limit) = (free_run as f64, self.limit as f64);
        let setpoint = (free_run + limit) / 2.0;
        let off = (dirty as f64 - setpoint) / (limit - setpoint).max(1.0);
        let factor = (1.0 - off * off * off).clamp(0.0, 2.0);
        let seconds = bytes as f64 / (self.estimate * factor).max(1.0);
        // Where little can be dirty, a long pause would leave the device idle: no
        // longer than an eighth of the time to write it all (wb_max_pause).
        let longest = dirty as f64 / (8.0 * self.estimate);
        Span::from_seconds(seconds.min(longest).min(LONGEST_PAUSE.as_seconds()))
    }

    /// So many bytes have been written.
    pub fn wrote(&mut self, bytes: u64, now: Time) {
        self.written += bytes;
        let since = now.since(self.looked);
        if since >= INTERVAL {
            let rate = self.written as f64 / since.as_seconds();
            // A pause in the writing says nothing about the device.
            if since < Span(10 * INTERVAL.0) && rate > self.estimate {
                self.estimate += (rate - self.estimate) / 8.0;
            }
            self.looked = now;
            self.written = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_pause_follows_the_cubic() {
        let balance = Balance::new(100 * MIB, 200 * MIB);
        assert_eq!(balance.free_run(), 150 * MIB);
        assert_eq!(balance.pause(150 * MIB, MIB), Span::ZERO);
        let rate = |dirty: u64| {
            let bytes = 4 << 10;
            bytes as f64 / balance.pause(dirty, bytes).as_seconds() / FIRST_ESTIMATE
        };
        // Half way between the setpoint, 175 MiB, and the ends: 1 ∓ 1/8.
        assert!((rate(175 * MIB) - 1.0).abs() < 1e-6);
        assert!((rate(162 * MIB + MIB / 2) - 1.125).abs() < 1e-6);
        assert!((rate(187 * MIB + MIB / 2) - 0.875).abs() < 1e-6);
        assert!((rate(150 * MIB + 1) - 2.0).abs() < 1e-3);
        assert_eq!(balance.pause(200 * MIB, MIB), LONGEST_PAUSE);
    }
}
