//! Bytes moved over time, in windows of equal length.

use headrace_net::{Span, Time};

/// Bytes by window, group and operation; windows double in length when there
/// would be too many, unless their length was given.
#[derive(Clone, Debug)]
pub struct Series {
    /// The length of a window, in picoseconds.
    window: Span,
    fixed: bool,
    /// Time when the first window starts.
    start: Time,
    /// By window: bytes by series, and whether each group was backlogged.
    windows: Vec<Window>,
    columns: usize,
    groups: usize,
    /// By group: since when it has had no request in progress.
    idle_since: Vec<Option<Time>>,
    outstanding: Vec<u64>,
    end: Time,
    /// True if the run was longer than the windows reach.
    overflowed: bool,
}

#[derive(Clone, Default, Debug)]
struct Window {
    bytes: Vec<u64>,
    idle: Vec<bool>,
}

/// Windows are between this many and half of it, unless their length is given.
const MOST_WINDOWS: usize = 200;
const FIRST_WINDOW: Span = Span::from_micros(100);

/// Most figures that are held: 160 MB of them.
const MOST_FIGURES: usize = 20_000_000;

impl Series {
    pub(super) fn new(window: Option<Span>, columns: usize, groups: usize) -> Series {
        Series {
            window: window.unwrap_or(FIRST_WINDOW).max(Span(1)),
            fixed: window.is_some(),
            start: Time::ZERO,
            windows: Vec::new(),
            columns,
            groups,
            idle_since: vec![Some(Time::ZERO); groups],
            outstanding: vec![0; groups],
            end: Time::ZERO,
            overflowed: false,
        }
    }

    /// Starts again from now; requests in progress stay so.
    pub(super) fn reset(&mut self, now: Time) {
        self.start = now;
        self.windows.clear();
        for idle in self.idle_since.iter_mut().flatten() {
            *idle = now;
        }
    }

    fn window_at(&mut self, time: Time) -> &mut Window {
        let mut index = (time.since(self.start).0 / self.window.0) as usize;
        while !self.fixed && index >= MOST_WINDOWS {
            self.double();
            index /= 2;
        }
        if index >= self.most_windows() {
            self.overflowed = true;
            index = self.most_windows() - 1;
        }
        if self.windows.len() <= index {
            let empty = Window {
                bytes: vec![0; self.columns],
                idle: vec![false; self.groups],
            };
            self.windows.resize(index + 1, empty);
        }
        &mut self.windows[index]
    }

    /// Returns the maximum number of windows.
    pub(super) fn most_windows(&self) -> usize {
        (MOST_FIGURES / self.columns.max(1)).max(1)
    }

    /// Returns true if the run was longer than the windows reach.
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed
    }

    fn double(&mut self) {
        self.window = self.window * 2;
        let pairs = self.windows.chunks(2);
        self.windows = pairs
            .map(|pair| {
                let mut joined = pair[0].clone();
                for other in &pair[1..] {
                    joined
                        .bytes
                        .iter_mut()
                        .zip(&other.bytes)
                        .for_each(|(sum, more)| *sum += more);
                    joined
                        .idle
                        .iter_mut()
                        .zip(&other.idle)
                        .for_each(|(idle, also)| *idle |= also);
                }
                joined
            })
            .collect();
    }

    pub(super) fn issued(&mut self, group: usize, now: Time) {
        self.outstanding[group] += 1;
        if let Some(since) = self.idle_since[group].take() {
            self.mark_idle(group, since, now);
        }
    }

    pub(super) fn completed(&mut self, group: usize, column: usize, bytes: u64, now: Time) {
        self.window_at(now).bytes[column] += bytes;
        self.outstanding[group] -= 1;
        if self.outstanding[group] == 0 {
            self.idle_since[group] = Some(now);
        }
    }

    /// Marks the windows between two times; none if they are the same instant.
    fn mark_idle(&mut self, group: usize, since: Time, until: Time) {
        if since >= until {
            return;
        }
        self.window_at(until);
        if self.overflowed {
            return;
        }
        let index =
            |series: &Series, time: Time| (time.since(series.start).0 / series.window.0) as usize;
        let (first, last) = (index(self, since), index(self, Time(until.0 - 1)));
        for window in &mut self.windows[first..=last] {
            window.idle[group] = true;
        }
    }

    /// The run has ended: groups that have stopped are idle to the end.
    pub(super) fn finish(&mut self, now: Time) {
        for group in 0..self.groups {
            if let Some(since) = self.idle_since[group].take() {
                self.mark_idle(group, since, now);
            }
        }
        if now > self.start {
            // Windows in which nothing was done are windows, too.
            self.window_at(Time(now.0 - 1));
        }
        self.end = now;
    }

    /// The length of a window in seconds.
    pub fn window_seconds(&self) -> f64 {
        self.window.as_seconds()
    }

    /// For each window: its start in seconds, and the bytes of each column.
    pub fn rows(&self) -> impl Iterator<Item = (f64, &[u64])> {
        let windows = self.windows.iter().zip(0..);
        windows.map(|(window, index)| {
            (
                (self.start + self.window * index).as_seconds(),
                window.bytes.as_slice(),
            )
        })
    }

    /// The whole windows in which every group had requests in progress all the time: their start in
    /// seconds, and the bytes of each column.
    pub(crate) fn backlogged(&self) -> impl Iterator<Item = (f64, &[u64])> {
        let windows = self.rows().zip(&self.windows);
        let whole = self.end.since(self.start).0 / self.window.0;
        let windows = windows.take(whole as usize);
        windows
            .filter(|(_, window)| !window.idle.contains(&true))
            .map(|(row, _)| row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_without_requests_under_way_are_idle() {
        let mut series = Series::new(Some(Span(10)), 2, 2);
        for group in 0..2 {
            series.issued(group, Time(0));
        }
        series.completed(0, 0, 5, Time(12));
        series.issued(0, Time(12));
        series.completed(1, 1, 7, Time(25));
        series.issued(1, Time(33));
        series.completed(0, 0, 1, Time(41));
        series.issued(0, Time(41));
        series.finish(Time(57));
        // Group 1 was idle from 25 to 33; the window from 50 to 57 is not whole.
        let backlogged: Vec<f64> = series.backlogged().map(|(start, _)| start * 1e12).collect();
        assert_eq!(backlogged, [0.0, 10.0, 40.0]);
        let bytes: Vec<Vec<u64>> = series.rows().map(|(_, bytes)| bytes.to_vec()).collect();
        assert_eq!(bytes, [[0, 0], [5, 0], [0, 7], [0, 0], [1, 0], [0, 0]]);
    }

    #[test]
    fn doubling_keeps_every_byte() {
        let mut series = Series::new(None, 1, 1);
        for second in 0..1000 {
            series.issued(0, Time::from_seconds(f64::from(second)));
            series.completed(0, 0, 3, Time::from_seconds(f64::from(second) + 0.5));
        }
        assert_eq!(series.rows().map(|(_, bytes)| bytes[0]).sum::<u64>(), 3000);
        assert!(series.rows().count() <= MOST_WINDOWS);
    }
}
