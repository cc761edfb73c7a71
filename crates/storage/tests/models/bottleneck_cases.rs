//! Bottleneck cases: the report must name the bottleneck, and relieving it must help by no more
//! than predicted.

use crate::running::run;

/// Values that make one thing the bottleneck of a system.
pub struct Case {
    pub sets: &'static [&'static str],
    /// The end of the place's name, and what the sentence says.
    pub place: &'static str,
    pub says: &'static str,
    pub saturated: bool,
    /// Setting that relieves only it.
    pub relief: &'static str,
}

/// Each case's bottleneck is named, and the parts of the breakdown add up to the whole.
pub fn are_named(system: &str, cases: &[Case]) {
    for case in cases {
        let outcome = run(system, case.sets);
        let found = &outcome.report.bottleneck;
        let sentence = &found.sentence;
        let place = found.station.as_deref().unwrap_or("");
        assert!(
            place.ends_with(case.place),
            "{:?}: {place}: {sentence}",
            case.sets
        );
        assert!(sentence.contains(case.says), "{:?}: {sentence}", case.sets);
        assert_eq!(found.saturated, case.saturated, "{sentence}");
        let shares: f64 = outcome.report.breakdown.iter().map(|it| it.share).sum();
        assert!((shares - 1.0).abs() < 1e-6, "{shares}");
    }
}

/// Relieving each case's bottleneck helps, by no more than was said.
pub fn relieving_helps_as_was_said(system: &str, cases: &[Case]) {
    for case in cases {
        let before = run(system, case.sets).report;
        let after = run(system, &[case.sets, &[case.relief]].concat()).report;
        let gain = before.simulated_seconds / after.simulated_seconds;
        assert!(gain > 1.3, "{:?}: only {gain}", case.sets);
        let most = before.bottleneck.most_gain.unwrap_or(f64::INFINITY);
        assert!(gain < 1.05 * most, "{:?}: {gain}, not {most}", case.sets);
    }
}
