//! Components one after the other, each with stripes of its own (Lustre: progressive file
//! layouts).
//!
//! Not modelled: components that get their targets only when they are first written (layout
//! intent); separate objects of the components that one target holds: they are one object.

use headrace_spec::Progressive as Spec;

use super::stripes::Stripes;

/// A range of a file and its stripes.
#[derive(Clone, Copy, Debug)]
struct Component {
    start: u64,
    end: u64,
    stripes: Stripes,
    /// The turn of its first stripe.
    first: u64,
}

/// A file's components.
#[derive(Clone, Debug)]
pub(super) struct Progressive {
    components: Vec<Component>,
    /// Number of targets for all of them.
    turns: u64,
    /// The first byte that is on data servers.
    pub on_metadata: u64,
}

impl Progressive {
    /// The components on a number of targets. Each begins at the target after the previous one's
    /// last, and the last wraps around if there are too few.
    pub fn new(spec: &Spec, targets: u32) -> Progressive {
        let turns = u64::from(spec.width(targets));
        let mut first = 0;
        let components = spec.striped().map(|(start, component)| {
            let stripes = Stripes {
                unit: component.unit.0,
                width: u64::from(component.servers.of(targets)),
            };
            let end = component.end.map_or(u64::MAX, |end| end.0);
            let here = first % turns;
            first += stripes.width;
            Component {
                start,
                end,
                stripes,
                first: here,
            }
        });
        Progressive {
            components: components.collect(),
            turns,
            on_metadata: spec.on_metadata().0,
        }
    }

    /// Targets of all components.
    pub fn width(&self) -> u64 {
        self.turns
    }

    /// Targets that a new file takes: those of its first component.
    pub fn first_width(&self) -> u64 {
        self.components.first().map_or(0, |it| it.stripes.width)
    }

    fn component(&self, offset: u64) -> Option<&Component> {
        let after = self.components.partition_point(|it| it.start <= offset);
        self.components.get(after.checked_sub(1)?)
    }

    /// Returns the turn of a byte's target, and the end of its stripe. For bytes on the metadata
    /// server, the turn is the first and the end that of all of them.
    pub fn at(&self, offset: u64) -> (u64, u64) {
        if offset < self.on_metadata {
            return (0, self.on_metadata);
        }
        self.component(offset).map_or((0, u64::MAX), |it| {
            let (stripe, end) = it.stripes.at(offset);
            ((it.first + stripe) % self.turns, end.min(it.end))
        })
    }

    /// Returns the bytes that one target holds of a file's first `size` bytes.
    pub fn part(&self, size: u64, turn: u64) -> u64 {
        let begun = self.components.iter().take_while(|it| it.start < size);
        let parts = begun.map(|it| {
            let stripe = (turn + self.turns - it.first) % self.turns;
            if stripe >= it.stripes.width {
                return 0;
            }
            let until = |offset| it.stripes.part(offset, stripe);
            until(size.min(it.end)) - until(it.start)
        });
        parts.sum()
    }

    /// The most targets, from that of the first byte on, that hold some of a range.
    pub fn spread(&self, offset: u64, end: u64) -> u64 {
        match end <= self.at(offset).1 {
            true => 1,
            false => self.turns,
        }
    }

    /// Bytes of the smallest stripe.
    pub fn smallest(&self) -> u64 {
        let units = self.components.iter().map(|it| it.stripes.unit);
        units.min().unwrap_or(u64::MAX)
    }

    /// Returns true if requests of this size fill every stripe.
    pub fn is_filled_by(&self, request: u64) -> bool {
        let mut units = self.components.iter().map(|it| it.stripes.unit);
        units.all(|unit| unit.is_multiple_of(request))
    }
}
