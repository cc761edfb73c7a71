//! Time that the arm takes over a distance.
//!
//! Short seeks accelerate all the way, long ones coast: a + b·√d up to a third of the stroke, c +
//! e·d beyond. Source: Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer
//! 27(3), 1994. Three numbers of a data sheet fix it: the seek over one track, over all tracks, and
//! the mean. The value m where both parts meet follows from the mean over two uniformly distributed
//! cylinders. Their distance x (as a part of the stroke) has the density 2(1−x):
//!
//! ```text
//! mean = t·(5/9 − 16/45) + m·(16/45 + 4/9 − 4/27) + f·4/27
//! ```

use headrace_net::Span;
use headrace_spec::Disk;

#[derive(Clone, Copy, Debug)]
pub(super) struct SeekCurve {
    /// The distance where the parts meet, in cylinders.
    meet: f64,
    short: (f64, f64),
    long: (f64, f64),
    head_switch: u64,
    track_to_track: u64,
    write_settle: u64,
}

impl SeekCurve {
    /// The curve of a disk with `cylinders` cylinders.
    pub(super) fn new(spec: &Disk, cylinders: u64) -> SeekCurve {
        let picoseconds = |time: headrace_spec::Seconds| time.0 * 1e12;
        let least = picoseconds(spec.track_to_track_seek);
        let mean = picoseconds(spec.average_seek);
        let most = picoseconds(spec.full_stroke_seek);
        let stroke = (cylinders.max(2) - 1) as f64;
        let middle = (mean - least / 5.0 - most * 20.0 / 135.0) * 135.0 / 88.0;
        let meet = (stroke / 3.0).max(1.0);
        let root = f64::sqrt(meet) - 1.0;
        let b = if root > 0.0 {
            (middle - least) / root
        } else {
            0.0
        };
        let e = if stroke > meet {
            (most - middle) / (stroke - meet)
        } else {
            0.0
        };
        SeekCurve {
            meet,
            short: (least - b, b),
            long: (middle - e * meet, e),
            head_switch: Span::from_seconds(spec.head_switch.0).0,
            track_to_track: Span::from_seconds(spec.track_to_track_seek.0).0,
            write_settle: Span::from_seconds(spec.write_settle.0).0,
        }
    }

    /// Picoseconds from one track to another.
    pub(super) fn time(&self, from: (u64, u64), to: (u64, u64), writing: bool) -> u64 {
        let distance = from.0.abs_diff(to.0);
        let moved = match distance {
            0 if from.1 == to.1 => return 0,
            // Skew leaves room for just this, also before writing.
            0 => return self.head_switch,
            // To the picosecond, as the skew: one more would cost a revolution.
            1 => return self.track_to_track,
            distance => {
                let distance = distance as f64;
                let (constant, slope, by) = if distance < self.meet {
                    (self.short.0, self.short.1, f64::sqrt(distance))
                } else {
                    (self.long.0, self.long.1, distance)
                };
                (constant + slope * by + 0.5) as u64
            }
        };
        if writing {
            moved + self.write_settle
        } else {
            moved
        }
    }
}
