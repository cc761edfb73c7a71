//! Warnings about a run: its figures are right for the simulated system, and may not be those that
//! the scenario asks for.

use headrace_net::Gauge;
use serde::Serialize;

use crate::app::Workloads;
use crate::device::solid_state::{DIES_OF_DRIVE, FREE_AT_START, FREE_BLOCKS};

/// A warning about a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RunWarning {
    /// Subject, as a keyword for programs.
    pub condition: &'static str,
    /// Consequence for the result, and the suggested change.
    pub message: String,
}

/// Returns the warnings of a run that has ended. The gauges are those at its end and at the end of
/// its warm-up, if there was one.
pub(super) fn warnings(
    gauges: &[Gauge],
    after_warm_up: &[Gauge],
    workloads: &Workloads,
) -> Vec<RunWarning> {
    let mut all = free_blocks_fall(gauges, after_warm_up);
    for number in workloads.stonewalls_not_reached() {
        all.push(RunWarning {
            condition: "stonewall-not-reached",
            message: format!(
                "workload.{number}.stonewall: a writing phase ended before the deadline, with all \
                 of its work done; IO500 counts such a run as invalid: give more work (block, \
                 segments or files)"
            ),
        });
    }
    all
}

/// A drive that still has free erase blocks need not clean: it is faster than in its steady state.
fn free_blocks_fall(gauges: &[Gauge], after_warm_up: &[Gauge]) -> Vec<RunWarning> {
    let of = |gauges: &[Gauge], path: &str, name| {
        let mut all = gauges.iter();
        let gauge = all.find(|it| it.path == path && it.name == name);
        gauge.map(Gauge::sum)
    };
    let drives = gauges.iter().filter(|it| it.name == FREE_BLOCKS);
    let falls = drives.filter_map(|drive| {
        let path = &*drive.path;
        let before = of(after_warm_up, path, FREE_BLOCKS);
        let before = before.or_else(|| of(gauges, path, FREE_AT_START))?;
        let (after, dies) = (drive.sum(), of(gauges, path, DIES_OF_DRIVE)?);
        // In the steady state a die frees a block as often as it fills one.
        (before > after + dies).then_some((path, before, after))
    });
    let warning = |(path, before, after)| RunWarning {
        condition: "free-blocks-fall",
        message: format!(
            "{path}: free erase blocks fell from {before} to {after} in the measured time, and a \
             drive with free blocks writes faster than in its steady state: give a run.warm_up \
             that ends when they no longer fall, and fill = 1 for a drive in use"
        ),
    };
    falls.map(warning).collect()
}
