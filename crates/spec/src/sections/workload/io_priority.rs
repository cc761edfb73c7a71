//! A priority of I/O: a class and a level within it, as ionice(1) sets them.

use serde_json::json;

use crate::declare::Leaf;
use crate::names;
use crate::tree::{Node, Raw};

/// The level of a process that was given none: IOPRIO_NORM in
/// include/uapi/linux/ioprio.h.
const NORMAL: u8 = 4;

/// The class of a priority, the highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoClass {
    /// Before all others.
    Realtime,
    /// In turn, by level.
    BestEffort,
    /// Served only while no other process has requests.
    Idle,
}

impl IoClass {
    /// Every class, the highest first.
    pub const ALL: [IoClass; 3] = [IoClass::Realtime, IoClass::BestEffort, IoClass::Idle];

    /// The word that the scenario file uses.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            IoClass::Realtime => "realtime",
            IoClass::BestEffort => "best-effort",
            IoClass::Idle => "idle",
        }
    }
}

/// A priority of I/O: a class, and a level from 0, the highest, to 7 within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IoPriority(u8);

impl Default for IoPriority {
    /// Returns the priority of a process without a configured one.
    fn default() -> IoPriority {
        IoPriority::new(IoClass::BestEffort, NORMAL)
    }
}

impl IoPriority {
    /// Number of levels a class has.
    pub const LEVELS: u8 = 8;

    /// Number of priorities.
    pub const COUNT: usize = IoClass::ALL.len() * IoPriority::LEVELS as usize;

    /// A level of a class; the lowest is 7. The idle class has only that
    /// (block/cfq-iosched.c: cfq_init_prio_data).
    #[must_use]
    pub fn new(class: IoClass, level: u8) -> IoPriority {
        let lowest = IoPriority::LEVELS - 1;
        let level = match class {
            IoClass::Idle => lowest,
            _ => level.min(lowest),
        };
        IoPriority(class as u8 * IoPriority::LEVELS + level)
    }

    /// The class.
    #[must_use]
    pub fn class(self) -> IoClass {
        IoClass::ALL[usize::from(self.0 / IoPriority::LEVELS)]
    }

    /// The level within the class.
    #[must_use]
    pub fn level(self) -> u8 {
        self.0 % IoPriority::LEVELS
    }

    /// A number of its own, below [`IoPriority::COUNT`].
    #[must_use]
    pub fn number(self) -> usize {
        usize::from(self.0)
    }
}

impl serde::Serialize for IoPriority {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&words(*self))
    }
}

fn words(priority: IoPriority) -> String {
    match priority.class() {
        IoClass::Idle => IoClass::Idle.word().to_owned(),
        class => format!("{} {}", class.word(), priority.level()),
    }
}

impl Leaf for IoPriority {
    type Value = IoPriority;

    fn expected() -> String {
        r#"a class and a level from 0, the highest, to 7, such as "best-effort 4" or "realtime 0", or "idle""#
            .to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "string", "pattern": "^((realtime|best-effort)( [0-7])?|idle)$" })
    }

    fn parse(node: &Node) -> Result<IoPriority, String> {
        let Raw::Text(text) = &node.raw else {
            return Err(String::new());
        };
        let mut parts = text.split_whitespace();
        let (word, level) = (parts.next().unwrap_or_default(), parts.next());
        let class = IoClass::ALL.into_iter().find(|class| class.word() == word);
        let class = class.ok_or_else(|| names::guess(word, &IoClass::ALL.map(IoClass::word)))?;
        if parts.next().is_some() {
            return Err(String::new());
        }
        let level = match (class, level) {
            (IoClass::Idle, Some(_)) => return Err("the idle class has no levels".to_owned()),
            (_, None) => NORMAL,
            (_, Some(level)) => {
                let level = level.parse().map_err(|_| String::new())?;
                if level >= IoPriority::LEVELS {
                    return Err("the lowest level is 7".to_owned());
                }
                level
            }
        };
        Ok(IoPriority::new(class, level))
    }

    fn format(value: &IoPriority) -> Raw {
        Raw::Text(words(*value))
    }
}
