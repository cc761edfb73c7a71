//! Selection of the file of an operation.

use std::collections::VecDeque;

use headrace_net::Random;
use headrace_spec::{Locality, OperationMix};

use super::first_with;

/// Operation on a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// Neither.
    Other,
}

/// Selection of files by groups. Each group takes every n-th file and so has all sizes.
#[derive(Clone, Debug)]
pub struct Groups {
    files: u32,
    groups: u32,
    /// The part of the choices that is of groups up to each.
    up_to: Vec<f64>,
    /// The part of a group's files that is written.
    written: f64,
}

impl Groups {
    /// Creates the groups for the files of an operation mix; none if all files are equally likely.
    pub fn new(mix: &OperationMix, files: u32) -> Option<Groups> {
        let groups = mix.locality.groups;
        if groups == 1 && mix.write_files == 0.0 {
            return None;
        }
        Some(Groups {
            written: mix.write_files,
            ..Groups::of_names(files, &mix.locality)
        })
    }

    /// Creates the groups for `count` names, independent of purpose.
    pub fn of_names(count: u32, locality: &Locality) -> Groups {
        let groups = locality.groups.min(count.max(1));
        let mut up_to = poisson(locality.mean_group(), groups);
        let mut sum = 0.0;
        for part in &mut up_to {
            sum += *part;
            *part = sum;
        }
        up_to.iter_mut().for_each(|part| *part /= sum);
        Groups {
            files: count,
            groups,
            up_to,
            written: 0.0,
        }
    }

    /// A file from a number on, if there is one for the purpose.
    pub fn file(&self, from: u32, purpose: Purpose, random: &mut Random<'_>) -> u32 {
        let part = random.uniform();
        let group = self.up_to.partition_point(|up_to| *up_to <= part) as u32;
        let group = group.min(self.groups - 1);
        // Files of a size are few: a group may have none that is large enough.
        let others = (0..self.groups).map(|next| (group + next) % self.groups);
        let mut large_enough =
            others.filter_map(|group| self.of_group(group, from, purpose, random));
        let file = large_enough.next();
        file.or_else(|| self.of_group(group, 0, purpose, random))
            .unwrap_or(self.files - 1)
    }

    /// A file of a group from a number on; none if there is none for the purpose.
    fn of_group(
        &self,
        group: u32,
        from: u32,
        purpose: Purpose,
        random: &mut Random<'_>,
    ) -> Option<u32> {
        // How many of the group's files there are before a number of all, and how many of
        // them are for the purpose.
        let places = |file: u32| file.saturating_sub(group).div_ceil(self.groups);
        let before = |place: u32| {
            let written = (f64::from(place) * self.written) as u32;
            match purpose {
                Purpose::Write if self.written > 0.0 => written,
                Purpose::Read if self.written > 0.0 => place - written,
                _ => place,
            }
        };
        let (least, all) = (before(places(from)), before(places(self.files)));
        if least >= all {
            return None;
        }
        let number = least + random.below(u64::from(all - least)) as u32;
        let place = first_with(places(self.files), |place| before(place + 1) > number);
        Some(place * self.groups + group)
    }
}

/// Returns the relative probabilities of the numbers from 0 to below `count`.
fn poisson(mean: f64, count: u32) -> Vec<f64> {
    // Logarithms: a power of the mean alone may be too large for a number.
    let mut logarithm = -mean;
    let parts = (0..count).map(|number| {
        if number > 0 {
            logarithm += (mean / f64::from(number)).ln();
        }
        logarithm.exp()
    });
    parts.collect()
}

/// The files that were used last, the latest first.
#[derive(Clone, Debug, Default)]
pub struct Recent(VecDeque<u32>);

impl Recent {
    /// One of them, or none if there are none or another is wanted.
    pub fn again(&self, share: f64, random: &mut Random<'_>) -> Option<u32> {
        if share == 0.0 || self.0.is_empty() || random.uniform() >= share {
            return None;
        }
        let place = random.below(self.0.len() as u64) as usize;
        self.0.get(place).copied()
    }

    /// A file is used.
    pub fn used(&mut self, file: u32, most: u32) {
        self.0.retain(|other| *other != file);
        self.0.push_front(file);
        self.0.truncate(most as usize);
    }
}
