//! Pilot missions without biasing: how far later ones are to be biased.

/// Fewest missions of a pilot run.
const LEAST_MISSIONS: u64 = 20;
/// Failures after which a pilot run ends.
const MOST_FAILURES: u64 = 300_000;
/// Cumulative hazard of the survivors until the next repair that biasing aims at. It minimises the
/// second moment (exp(y) - 1) / y^2 of the weight of a failure in a window.
const WINDOW_HAZARD: f64 = 1.594;

/// The cause of a loss of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// More failures than are tolerated.
    Failures,
    /// A read error in a rebuild.
    ReadError,
}

impl Cause {
    /// The cause of a loss.
    pub fn of(is_read_error: bool) -> Cause {
        if is_read_error {
            Cause::ReadError
        } else {
            Cause::Failures
        }
    }
}

/// Events of pilot missions. A level is the number of failed disks of a group, or the most chunks
/// that a stripe of a pool lacks.
#[derive(Clone, Debug)]
pub struct Pilot {
    missions: u64,
    /// Missions whose first loss was by failures, and by a read error.
    losses: [u64; 2],
    levels: Vec<Windows>,
}

/// Windows of one level: the times between two events of a group or a pool.
#[derive(Clone, Copy, Debug, Default)]
struct Windows {
    /// Count of the current mission.
    current: u64,
    /// Count of all missions before it.
    all: u64,
    /// Missions before it that had any.
    missions: u64,
}

impl Pilot {
    /// No missions yet; the last level is `tolerated`.
    pub fn new(tolerated: u32) -> Pilot {
        Pilot {
            missions: 0,
            losses: [0; 2],
            levels: vec![Windows::default(); tolerated as usize + 1],
        }
    }

    /// True if another mission is needed: at most `most`, fewer if disks fail very often.
    pub fn goes_on(&self, most: u64, failures: u64) -> bool {
        self.missions < most && (self.missions < LEAST_MISSIONS || failures < MOST_FAILURES)
    }

    /// Counts a window of the current mission. Levels beyond the last are lost data.
    pub fn count(&mut self, level: usize) {
        if let Some(windows) = self.levels.get_mut(level) {
            windows.current += 1;
        }
    }

    /// Ends the current mission.
    pub fn end_mission(&mut self, first_loss: Option<Cause>) {
        self.missions += 1;
        if let Some(cause) = first_loss {
            self.losses[cause as usize] += 1;
        }
        for windows in &mut self.levels {
            windows.all += windows.current;
            windows.missions += u64::from(windows.current > 0);
            windows.current = 0;
        }
    }

    /// Share of missions with a loss, or with a first loss by one cause.
    pub fn loss_share(&self, cause: Option<Cause>) -> f64 {
        let losses = match cause {
            Some(cause) => self.losses[cause as usize],
            None => self.losses.iter().sum(),
        };
        losses as f64 / self.missions as f64
    }

    /// Cumulative hazard to aim at in a window of each level; 0 at level 0.
    pub fn aims(&self) -> Vec<f64> {
        let aim = |(level, windows): (usize, &Windows)| match level {
            0 => 0.0,
            // The first level is entered in missions of all kinds, and passed windows count for
            // those that follow.
            1 => aimed_hazard((windows.all as f64 / self.missions as f64).max(1.0)),
            _ => {
                let each = windows.all as f64 / windows.missions.max(1) as f64;
                aimed_hazard((each - 1.0).max(0.0))
            }
        };
        self.levels.iter().enumerate().map(aim).collect()
    }
}

/// Cumulative hazard of a window to aim at where a mission passes `windows` others on average.
///
/// A window that is passed without a failure multiplies the second moment of all later weights:
/// exp(windows (exp(y) - 1)) in all. Their product with that of the window of the loss is
/// minimised.
fn aimed_hazard(windows: f64) -> f64 {
    let moment = |y: f64| libm::log(libm::expm1(y) / (y * y)) + windows * libm::expm1(y);
    let mut best = WINDOW_HAZARD;
    let mut tried = WINDOW_HAZARD;
    while tried > 1e-9 {
        if moment(tried) < moment(best) {
            best = tried;
        }
        tried *= 0.9;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn biasing_is_weaker_where_windows_are_many() {
        assert_eq!(aimed_hazard(0.0), WINDOW_HAZARD);
        let many = aimed_hazard(100.0);
        assert!((0.005..0.02).contains(&many), "{many}");
    }

    #[test]
    fn the_aimed_hazard_is_the_minimum() {
        let moment = |y: f64| y.exp_m1() / (y * y);
        assert!(moment(WINDOW_HAZARD) < moment(WINDOW_HAZARD * 0.99));
        assert!(moment(WINDOW_HAZARD) < moment(WINDOW_HAZARD * 1.01));
    }
}
