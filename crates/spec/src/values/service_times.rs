//! An empirical distribution of times: a list, or a file.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Positive, Seconds};
use crate::declare::{Leaf, Nature};
use crate::read_roots::open_regular;
use crate::tree::{Node, Raw};

/// Times with weights: each is drawn as often as its weight says, in relation to the sum of all.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ServiceTimes {
    /// The file that they come from, if they do.
    pub file: Option<PathBuf>,
    /// Seconds and weights, in the order of the list or file.
    pub times: Vec<(f64, f64)>,
}

/// The most times: 160 MB of them.
const MOST: usize = 10_000_000;

impl ServiceTimes {
    pub(crate) fn example() -> Raw {
        let times = ["0.2 ms", "0.3 ms", "4 ms"];
        Raw::List(times.map(|time| Node::plain(time.into())).into())
    }

    /// The mean in seconds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let total: f64 = self.times.iter().map(|(_, weight)| weight).sum();
        let times = self.times.iter();
        times.map(|(time, weight)| time * weight / total).sum()
    }

    /// Reads a CSV file: times in seconds, with a column of weights or without. A first line that
    /// is no number is a heading; lines that begin with # and empty ones are skipped.
    fn of_file(path: &Path) -> Result<ServiceTimes, String> {
        let file = open_regular(path).map_err(|error| format!("cannot read it: {error}"))?;
        let mut times = Vec::new();
        for (number, line) in (1_u64..).zip(BufReader::new(file).lines()) {
            let line = line.map_err(|error| format!("cannot read its line {number}: {error}"))?;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match time_and_weight(line) {
                Ok(pair) => times.push(pair),
                Err(_) if times.is_empty() && line.starts_with(|it: char| it.is_alphabetic()) => {}
                Err(expected) => {
                    return Err(format!("in its line {number}, expected {expected}"));
                }
            }
            if times.len() > MOST {
                return Err(format!("it has more than {MOST} times"));
            }
        }
        let file = Some(path.to_owned());
        checked(ServiceTimes { file, times })
    }
}

/// A line of a CSV file.
fn time_and_weight(line: &str) -> Result<(f64, f64), String> {
    let mut cells = line.split(',').map(|cell| cell.trim().parse::<f64>());
    let time = match cells.next() {
        Some(Ok(time)) if (0.0..=Seconds::LONGEST.0).contains(&time) => time,
        _ => return Err("a time in seconds such as 0.0002".to_owned()),
    };
    match (cells.next(), cells.next()) {
        (None, _) => Ok((time, 1.0)),
        (Some(Ok(weight)), None) if weight > 0.0 && weight.is_finite() => Ok((time, weight)),
        _ => Err("a time in seconds and perhaps a weight of more than 0".to_owned()),
    }
}

fn checked(times: ServiceTimes) -> Result<ServiceTimes, String> {
    if times.times.is_empty() {
        return Err("it has no times".to_owned());
    }
    if times.times.iter().all(|(time, _)| *time <= 0.0) {
        return Err("every time in it is 0".to_owned());
    }
    let total: f64 = times.times.iter().map(|(_, weight)| weight).sum();
    match total.is_finite() {
        true => Ok(times),
        false => Err("the sum of the weights is too large".to_owned()),
    }
}

/// Reads [`ServiceTimes`].
pub(crate) struct TimesOrFile;

impl Leaf for TimesOrFile {
    type Value = ServiceTimes;

    const NATURE: Nature = Nature::File;

    fn expected() -> String {
        "a list of times such as [\"0.2 ms\", \"4 ms\"], of pairs of a time and its weight such \
         as [[\"0.2 ms\", 99], [\"4 ms\", 1]], or a CSV file's path in quotes"
            .to_owned()
    }

    fn schema() -> serde_json::Value {
        let pair = json!({
            "type": "array", "minItems": 2, "maxItems": 2,
            "prefixItems": [Seconds::schema(), Positive::schema()],
        });
        json!({ "anyOf": [
            { "type": "string", "minLength": 1 },
            {
                "type": "array", "minItems": 1,
                "items": { "anyOf": [Seconds::schema(), pair] },
            },
        ] })
    }

    fn parse(node: &Node) -> Result<ServiceTimes, String> {
        let list = match &node.raw {
            Raw::Text(path) if !path.is_empty() => return ServiceTimes::of_file(Path::new(path)),
            Raw::List(list) => list,
            _ => return Err(String::new()),
        };
        let each = |node: &Node| match &node.raw {
            Raw::List(pair) => match pair.as_slice() {
                [time, weight] => Ok((Seconds::parse(time)?.0, Positive::parse(weight)?)),
                _ => Err("a pair has a time and a weight".to_owned()),
            },
            _ => Ok((Seconds::parse(node)?.0, 1.0)),
        };
        checked(ServiceTimes {
            file: None,
            times: list.iter().map(each).collect::<Result<_, _>>()?,
        })
    }

    fn format(value: &ServiceTimes) -> Raw {
        if let Some(file) = &value.file {
            return Raw::Text(file.to_string_lossy().into_owned());
        }
        let equal = value.times.iter().all(|&(_, weight)| weight == 1.0);
        let each = |&(time, weight): &(f64, f64)| {
            let time = Node::plain(Seconds::format(&Seconds(time)));
            match equal {
                true => time,
                false => Node::plain(Raw::List(vec![
                    time,
                    Node::plain(Positive::format(&weight)),
                ])),
            }
        };
        Raw::List(value.times.iter().map(each).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_times_and_perhaps_weights() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("times.csv");
        let read = |text: &str| {
            std::fs::write(&file, text).expect("it is written");
            ServiceTimes::of_file(&file)
        };
        let times = read("time_s,weight\n# measured\n0.001, 3\n\n0.005,1\n").expect("it is read");
        assert_eq!(times.times, [(0.001, 3.0), (0.005, 1.0)]);
        assert!((times.mean() - 0.002).abs() < 1e-15);
        for (text, message) in [
            ("", "it has no times"),
            ("time_s\n", "it has no times"),
            (
                "0.1\nfast\n",
                "in its line 2, expected a time in seconds such as 0.0002",
            ),
            (
                "-1\n",
                "in its line 1, expected a time in seconds such as 0.0002",
            ),
            (
                "1,0\n",
                "in its line 1, expected a time in seconds and perhaps a weight of more than 0",
            ),
        ] {
            assert_eq!(read(text).expect_err(text), message);
        }
    }
}
