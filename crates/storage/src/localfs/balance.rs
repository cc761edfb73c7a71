//! Throttling of writers at the dirty limits: balance_dirty_pages of mm/page-writeback.c (Linux
//! 6.6). Its units are pages of 4 KiB and ticks of 4 ms (HZ = 250).
//!
//! Up to halfway between the background limit and the limit no writer waits, and at the limit all
//! wait. Above the halfway mark, a writer is throttled to the estimated rate at which one writer
//! may dirty pages, times two factors. The first factor falls from 2 at the halfway mark through 1
//! at the setpoint to 0 at the limit. It is 1 − ((dirty − setpoint) / (limit − setpoint))³
//! (pos_ratio_polynom). The setpoint is midway between the halfway mark and the limit. The second
//! factor falls with the data that the device itself has to write (wb_position_ratio). A writer is
//! checked each time that it has dirtied some hundred pages. Pauses that are too short are saved
//! up. The estimate begins at 100 MiB/s and follows the device slowly (wb_update_dirty_ratelimit).
//!
//! The kernel counts whole folios, as dirtied and as written: small writes into
//! large folios make it think that the device is fast.
//!
//! Not modelled: limits of each device and control group; Linux before 3.2, where writers are not
//! throttled up to the limit; a slow fall of the estimate; laptop mode.

use std::collections::BTreeMap;

use headrace_net::{Span, Time};

const PAGE: u64 = 4096;

/// Ticks a second, and their length.
const HZ: u64 = 250;
const TICK: Span = Span(4_000_000_000);

/// Longest pause of a throttled writer, in ticks (MAX_PAUSE).
const LONGEST_PAUSE: u64 = HZ / 5;

/// Number of times rates are estimated, in ticks (BANDWIDTH_INTERVAL).
const INTERVAL: u64 = HZ / 5;

/// Rates are averages over three seconds (wb_update_write_bandwidth), in ticks.
const PERIOD: u64 = (3 * HZ).next_power_of_two();

/// A device that was idle for longer than this, in ticks, is re-estimated from its starting value
/// (WB_BANDWIDTH_IDLE_JIF).
const IDLE: u64 = HZ;

/// The first estimate of rates, in pages a second (INIT_BW: 100 MiB/s).
const FIRST_ESTIMATE: u64 = (100 << 20) / PAGE;

/// Pages that a writer dirties at least between two looks (DIRTY_POLL_THRESH).
const POLL: u64 = (128 << 10) / PAGE;

/// Pages after which a new process is checked (nr_dirtied_pause in kernel/fork.c).
const FIRST_POLL: u64 = (128 << 10) / PAGE;

/// Bytes that are dirty or under writeback.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Dirty, of all devices.
    pub dirty: u64,
    /// Dirty or being written, of all devices.
    pub all: u64,
    /// The same, of this device.
    pub own: u64,
}

/// Result of a check of a writer against the dirty limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Throttling {
    /// The flusher is to begin.
    pub flush: bool,
    /// Pause of the writer.
    pub pause: Span,
}

/// Kernel state of a writing process, in pages and ticks.
#[derive(Clone, Copy, Debug)]
struct Writer {
    /// Dirtied since the last look.
    dirtied: u64,
    /// Bytes it may dirty before the next check.
    poll: u64,
    /// Time of its last actual or possible pause.
    paused: u64,
}

/// Limits of dirty data, and the rate at which writers may add to it.
#[derive(Clone, Debug)]
pub struct Balance {
    /// Above this the kernel writes in the background, in bytes.
    pub background: u64,
    /// Never exceeded, in bytes.
    pub limit: u64,
    /// The part of recent writes that this device wrote, 0 to 1: its part of the limits.
    pub share: f64,
    writers: BTreeMap<u32, Writer>,
    /// Dirty rate limit, current and balanced: pages per second.
    allowed: u64,
    balanced: u64,
    /// The device's rate, over the last seconds and smoothed: pages a second.
    rate: u64,
    smooth: u64,
    /// Pages in all, and as they were when the rates were last estimated.
    dirtied: u64,
    written: u64,
    looked: BalanceState,
}

#[derive(Clone, Copy, Default, Debug)]
struct BalanceState {
    tick: u64,
    dirtied: u64,
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
            share: 1.0,
            writers: BTreeMap::new(),
            allowed: FIRST_ESTIMATE,
            balanced: FIRST_ESTIMATE,
            rate: FIRST_ESTIMATE,
            smooth: FIRST_ESTIMATE,
            dirtied: 0,
            written: 0,
            looked: BalanceState::default(),
        }
    }

    /// Dirty bytes below which no writer waits (dirty_freerun_ceiling).
    pub fn free_run(&self) -> u64 {
        self.background + (self.limit - self.background) / 2
    }

    /// Bytes written since the beginning.
    pub fn written(&self) -> u64 {
        self.written * PAGE
    }

    /// Counts bytes that a process has dirtied; returns its throttling at the current dirty data.
    pub fn dirtied(&mut self, process: u32, bytes: u64, load: Load, now: Time) -> Throttling {
        let pages = bytes / PAGE;
        self.dirtied += pages;
        let writer = self.writers.entry(process).or_insert(Writer {
            dirtied: 0,
            poll: FIRST_POLL,
            paused: 0,
        });
        writer.dirtied += pages;
        let own_limit = (self.limit as f64 * self.share) as u64;
        let exceeded = load.own > own_limit && load.all > self.limit;
        let poll = if exceeded {
            writer.poll.min((32 << 10) / PAGE)
        } else {
            writer.poll
        };
        if writer.dirtied < poll {
            return Throttling {
                flush: false,
                pause: Span::ZERO,
            };
        }
        let mut writer = *writer;
        let verdict = self.look(&mut writer, load, now);
        self.writers.insert(process, writer);
        verdict
    }

    /// balance_dirty_pages
    fn look(&mut self, writer: &mut Writer, load: Load, now: Time) -> Throttling {
        let tick = now.0 / TICK.0;
        if load.all <= self.free_run() {
            let room = (self.limit - load.all).max(PAGE) / PAGE;
            writer.paused = tick;
            writer.dirtied = 0;
            writer.poll = 1 << (room.ilog2() / 2);
            return Throttling {
                flush: load.dirty > self.background,
                pause: Span::ZERO,
            };
        }
        let go_on = Throttling {
            flush: true,
            pause: Span::ZERO,
        };
        let position = self.position(load);
        if tick > self.looked.tick + INTERVAL {
            self.follow(load, position, tick);
            self.estimate(tick);
        }
        let rate = (self.allowed as f64 * position) as u64;
        // wb_max_pause
        let longest = load.own / PAGE / (1 + self.smooth / (1 + HZ / 8).next_power_of_two()) + 1;
        let longest = longest.min(LONGEST_PAUSE);
        let (shortest, poll) = self.shortest(longest, rate);
        let (mut since, pause) = (tick, HZ * writer.dirtied);
        let pause = match pause.checked_div(rate) {
            None => longest,
            Some(period) => {
                let pause = period as i64 - (tick as i64 - writer.paused as i64);
                if pause < shortest as i64 {
                    if pause < -(HZ as i64) {
                        writer.paused = tick;
                        writer.dirtied = 0;
                    } else if period > 0 {
                        writer.paused += period;
                        writer.dirtied = 0;
                    } else if writer.poll <= writer.dirtied {
                        writer.poll += writer.dirtied;
                    }
                    return go_on;
                }
                let pause = pause as u64;
                since += pause.saturating_sub(longest).min(longest);
                pause.min(longest)
            }
        };
        *writer = Writer {
            dirtied: 0,
            poll,
            paused: since + pause,
        };
        Throttling {
            pause: Time((tick + pause) * TICK.0).since(now),
            ..go_on
        }
    }

    /// The two factors (wb_position_ratio).
    fn position(&self, load: Load) -> f64 {
        let (dirty, own) = (load.all as f64, load.own as f64);
        let limit = self.limit as f64;
        if dirty >= limit {
            return 0.0;
        }
        let setpoint = (self.free_run() as f64 + limit) / 2.0;
        let off = (dirty - setpoint) / (limit - setpoint).max(1.0);
        let mut factor = (1.0 - off * off * off).clamp(0.0, 2.0);
        let own_limit = (limit * self.share).max((limit - dirty) / 8.0);
        let share = own_limit / limit;
        let own_setpoint = setpoint * share;
        let rate = (self.smooth * PAGE) as f64;
        let span = (limit - own_limit + 8.0 * rate) * share;
        let end = own_setpoint + span;
        factor *= if own < end - span / 4.0 {
            (end - own) / span
        } else {
            0.25
        };
        // A device that has little to write gets more.
        let little = own_limit / 2.0;
        if own < little {
            factor *= (little / own.max(1.0)).min(8.0);
        }
        factor
    }

    /// Returns the shortest pause, and the pages that may be dirtied before the next check
    /// (wb_min_pause).
    fn shortest(&self, longest: u64, rate: u64) -> (u64, u64) {
        let second = HZ.next_power_of_two();
        let (high, low) = (self.smooth.ilog2(), self.allowed.ilog2());
        let mut ticks = (HZ / 100).max(1);
        ticks += u64::from(high.saturating_sub(low)) * (10 * HZ) / 1024;
        ticks = ticks.min(1 + longest / 2);
        let mut pages = self.allowed * ticks / second;
        if pages < POLL {
            ticks = longest;
            pages = self.allowed * ticks / second;
            if pages > POLL {
                pages = POLL;
                ticks = HZ * POLL / self.allowed;
            }
        }
        if HZ * pages / (rate + 1) > longest {
            ticks = longest;
            pages = rate * ticks / second;
        }
        match pages >= POLL {
            true => (1 + ticks / 2, pages),
            false => (ticks, pages),
        }
    }

    /// Updates the dirty rate limit from the write bandwidth of the device
    /// (wb_update_dirty_ratelimit).
    fn follow(&mut self, load: Load, position: f64, tick: u64) {
        let elapsed = (tick - self.looked.tick).max(1);
        let dirtied = (self.dirtied - self.looked.dirtied) * HZ / elapsed;
        let rate = (self.allowed as f64 * position) as u64 + 1;
        let balanced = (u128::from(rate) * u128::from(self.smooth) / u128::from(dirtied | 1))
            .min(u128::from(self.smooth)) as u64;
        let setpoint = (self.free_run() + self.limit) / 2;
        let step = if load.all < setpoint {
            let least = self.balanced.min(balanced).min(rate);
            least.saturating_sub(self.allowed)
        } else {
            let most = self.balanced.max(balanced).max(rate);
            self.allowed.saturating_sub(most)
        };
        let shift = self.allowed / (2 * step + 1);
        let step = match shift < 64 {
            true => (step >> shift).div_ceil(8),
            false => 0,
        };
        self.allowed = if self.allowed < balanced {
            self.allowed + step
        } else {
            (self.allowed - step).max(1)
        };
        self.balanced = balanced;
    }

    /// The device's rate (wb_update_write_bandwidth).
    fn estimate(&mut self, tick: u64) {
        let elapsed = (tick - self.looked.tick).max(1);
        let pages = (self.written - self.looked.written) * HZ;
        let (before, mut smooth) = (self.rate, self.smooth);
        if elapsed > PERIOD {
            self.rate = pages / elapsed;
            smooth = self.rate;
        } else {
            self.rate = (pages + before * (PERIOD - elapsed)) / PERIOD;
            if smooth > before && before >= self.rate {
                smooth -= (smooth - before) / 8;
            } else if smooth < before && before <= self.rate {
                smooth += (before - smooth) / 8;
            }
        }
        self.smooth = smooth.max(1);
        self.looked = BalanceState {
            tick,
            dirtied: self.dirtied,
            written: self.written,
        };
    }

    /// The flusher begins with a device that has nothing else to write
    /// (wb_bandwidth_estimate_start).
    pub fn begins(&mut self, now: Time) {
        let tick = now.0 / TICK.0;
        if tick > self.looked.tick + IDLE {
            self.looked = BalanceState {
                tick,
                dirtied: self.dirtied,
                written: self.written,
            };
        }
    }

    /// The flusher has sent something (do_writepages).
    pub fn sent(&mut self, now: Time) {
        let tick = now.0 / TICK.0;
        if tick > self.looked.tick + INTERVAL {
            self.estimate(tick);
        }
    }

    /// Accounts for written bytes, rounded to whole folios.
    pub fn wrote(&mut self, bytes: u64) {
        self.written += bytes / PAGE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn load(all: u64) -> Load {
        Load {
            dirty: all / 2,
            all,
            own: all,
        }
    }

    #[test]
    fn the_factors_are_those_of_the_kernel() {
        // Log of a kernel 6.18 for a loop device at 60 MB/s: pages dirty in all, and the factor.
        // Limits were 100 and 200 MiB, and all but the 36 MiB of the image was its own. Its part of
        // the limit was 116 MiB, and it was thought to write 100 MiB/s still.
        let mut balance = Balance::new(100 * MIB, 200 * MIB);
        balance.share = 0.58;
        for (pages, expected) in [(38_401_u64, 1.91), (44_465, 0.94), (48_113, 0.80)] {
            let all = pages * PAGE;
            let factor = balance.position(Load {
                dirty: all / 2,
                all,
                own: all - 36 * MIB,
            });
            assert!((factor - expected).abs() < 0.05, "{pages}: {factor}");
        }
    }

    #[test]
    fn nobody_waits_up_to_halfway() {
        let mut balance = Balance::new(100 * MIB, 200 * MIB);
        assert_eq!(balance.free_run(), 150 * MIB);
        let verdict = balance.dirtied(0, 64 * MIB, load(150 * MIB), Time::ZERO);
        let flush = false;
        let pause = Span::ZERO;
        assert_eq!(verdict, Throttling { flush, pause });
    }

    /// A writer gets the rate it is allowed, whatever the size of its calls. (Near
    /// the limit: where pauses are a tick or two, the kernel cuts them short.)
    #[test]
    fn pauses_make_the_rate() {
        for call in [4096, 65_536, MIB] {
            let mut balance = Balance::new(100 * MIB, 200 * MIB);
            let all = 198 * MIB;
            let (mut now, mut bytes) = (Time::ZERO, 0);
            while now < Time::ZERO + Span::from_seconds(1.0) {
                now = now + balance.dirtied(7, call, load(all), now).pause;
                bytes += call;
            }
            let rate = bytes as f64 / now.since(Time::ZERO).as_seconds();
            let expected = (FIRST_ESTIMATE * PAGE) as f64 * balance.position(load(all));
            assert!((rate / expected - 1.0).abs() < 0.1, "{call}: {rate}");
        }
    }

    #[test]
    fn at_the_limit_a_writer_pauses_no_longer_than_the_device_needs() {
        let mut balance = Balance::new(100 * MIB, 200 * MIB);
        let verdict = balance.dirtied(0, MIB, load(200 * MIB), Time::ZERO);
        assert_eq!(verdict.pause, Span(LONGEST_PAUSE * TICK.0));
        // A device that is thought to write 6 GiB/s.
        balance.smooth = (6 << 30) / PAGE;
        let verdict = balance.dirtied(1, MIB, load(200 * MIB), Time::ZERO);
        assert_eq!(verdict.pause, Span(2 * TICK.0));
    }

    /// A writer and a device of 20 MB/s: the writer comes down to that, with less
    /// dirty than the limit.
    #[test]
    fn the_rate_follows_a_slow_device_down() {
        const RATE: f64 = 20e6;
        let mut balance = Balance::new(100 * MIB, 200 * MIB);
        let (mut now, mut dirtied, mut written) = (Time::ZERO, 0, 0);
        while now < Time::ZERO + Span::from_seconds(60.0) {
            let until = ((now.since(Time::ZERO).as_seconds() * RATE) as u64).min(dirtied);
            let pages = (until - written) / PAGE;
            balance.wrote(pages * PAGE);
            written += pages * PAGE;
            dirtied += MIB;
            let verdict = balance.dirtied(0, MIB, load(dirtied - written), now);
            assert!(dirtied - written < 200 * MIB);
            now = now + Span::from_seconds(0.0005) + verdict.pause;
        }
        assert!(balance.smooth * PAGE < 22_000_000, "{}", balance.smooth);
        assert!(balance.allowed * PAGE < 40_000_000, "{}", balance.allowed);
    }
}
