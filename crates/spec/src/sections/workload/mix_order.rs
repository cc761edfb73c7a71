//! Follow-up operations of a mix.

use super::{MixedOperation, OperationMix};
use crate::Error;
use crate::declare::{Leaf, Nature, Place, quoted, section};
use crate::tree::{Node, Raw, Table};
use crate::values::{AtLeastOne, Portion};

section! {
    /// Writes that come in bursts: Roselli et al. 2000; Wang 2002, section 3.3.4.1.
    pub struct Bursts {
        /// Fraction of the writes that come in bursts, among those that follow no other operation.
        share: f64 as Portion = default(0.0, "writes come one by one"),
        /// Number of consecutive writes in a burst.
        length: u32 as AtLeastOne = default(LENGTH, "declared default: neither source gives a number"),
    }
}

/// Writes of a burst, if nothing is said.
const LENGTH: u32 = 8;

impl Bursts {
    pub(super) fn suits(mix: &OperationMix, at: &Place<'_>) -> Result<(), Error> {
        let (bursts, at) = (&mix.bursts, at.field("bursts"));
        let writes = |it: MixedOperation| it.writes() && !it.reads();
        if bursts.share > 0.0 && !mix.weights.values().any(writes) {
            return Err(at.error("share", "the mix has no writes: leave it out"));
        }
        if bursts.share == 0.0 && bursts.length != LENGTH {
            return Err(at.error("length", "there are no bursts: give share, or leave it out"));
        }
        Ok(())
    }
}

/// Follow-up operations on the same file.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Followers(pub Vec<(MixedOperation, MixedOperation)>);

impl Followers {
    /// Returns the follow-up of an operation, if any.
    #[must_use]
    pub fn of(&self, operation: MixedOperation) -> Option<MixedOperation> {
        let mut all = self.0.iter();
        all.find(|(first, _)| *first == operation).map(|it| it.1)
    }

    pub(super) fn suits(mix: &OperationMix, at: &Place<'_>) -> Result<(), Error> {
        let followers = &mix.followed_by;
        for (first, second) in &followers.0 {
            for operation in [first, second] {
                if !mix.weights.values().any(|it| it == *operation) {
                    let message = format!(
                        "{:?} is not in the mix: give it a weight, or leave it out",
                        operation.word()
                    );
                    return Err(at.error("followed_by", message));
                }
            }
            // A chain that ends has no more steps than there are entries.
            let mut next = followers.of(*first);
            for _ in 0..followers.0.len() {
                next = next.and_then(|operation| followers.of(operation));
            }
            if next.is_some() {
                let message = format!(
                    "the follow-up operations of {:?} form a cycle: expected chains that end",
                    first.word()
                );
                return Err(at.error("followed_by", message));
            }
        }
        Ok(())
    }
}

/// Reads [`Followers`].
pub(crate) struct ByOperation;

/// Nothing follows anything.
pub(crate) fn nothing_follows() -> Raw {
    Table::default().into()
}

impl Leaf for ByOperation {
    type Value = Followers;

    const NATURE: Nature = Nature::Keys;

    fn expected() -> String {
        r#"a table of operations and the one that follows each, such as { readdir = "stat" }"#
            .to_owned()
    }

    fn schema() -> serde_json::Value {
        let names = MixedOperation::schema();
        serde_json::json!({
            "type": "object", "propertyNames": names, "additionalProperties": names,
        })
    }

    fn parse(node: &Node) -> Result<Followers, String> {
        let Raw::Table(table) = &node.raw else {
            return Err(String::new());
        };
        let mut all = Vec::new();
        for entry in &table.entries {
            let key = Node::plain(Raw::Text(entry.key.clone()));
            let first = MixedOperation::parse(&key)
                .map_err(|_| format!("{} is no operation", quoted(&entry.key)))?;
            let second = MixedOperation::parse(&entry.node)
                .map_err(|_| format!("what follows {} is none", quoted(&entry.key)))?;
            all.push((first, second));
        }
        Ok(Followers(all))
    }

    fn format(value: &Followers) -> Raw {
        let mut table = Table::default();
        for (first, second) in &value.0 {
            table.push(first.word(), Node::plain(MixedOperation::format(second)));
        }
        table.into()
    }
}
