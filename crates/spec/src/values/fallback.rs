//! A count, or a word in its place: `"all"`, `"forever"`.

use serde_json::json;

use super::AtLeastOne;
use crate::declare::{Leaf, Nature};
use crate::quantities::Quantity;
use crate::tree::{Node, Raw};

/// The word that can stand in a count's place.
pub(crate) trait Word: Sized {
    /// The word as it is written.
    const WORD: &'static str;
    /// The value that the word means.
    fn word() -> Self;
    /// The value that a count means.
    fn count(count: u32) -> Self;
    /// The count, unless the value is the word.
    fn get(&self) -> Option<u32>;
}

/// Reads a count of at least 1 or the word of `T`.
pub(crate) struct CountOr<T>(std::marker::PhantomData<T>);

impl<T: Word> Leaf for CountOr<T> {
    type Value = T;

    fn expected() -> String {
        format!("{:?} or {}", T::WORD, AtLeastOne::expected())
    }

    fn schema() -> serde_json::Value {
        json!({ "anyOf": [{ "const": T::WORD }, AtLeastOne::schema()] })
    }

    fn parse(node: &Node) -> Result<T, String> {
        match &node.raw {
            Raw::Text(text) if text == T::WORD => Ok(T::word()),
            _ => AtLeastOne::parse(node).map(T::count),
        }
    }

    fn format(value: &T) -> Raw {
        value.get().map_or_else(|| T::WORD.into(), Raw::from)
    }

    const NATURE: Nature = Nature::Quantity(Quantity::Count);
}

/// Declares an enum of a count and a word.
macro_rules! word {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident {
            $(#[doc = $word_doc:literal])+ $variant:ident = $word:literal,
            $(#[doc = $count_doc:literal])+ $count:ident(u32) $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
        pub enum $name {
            $(#[doc = $word_doc])+
            #[serde(rename = $word)]
            $variant,
            $(#[doc = $count_doc])+
            #[serde(untagged)]
            $count(u32),
        }

        impl $crate::values::Word for $name {
            const WORD: &'static str = $word;

            fn word() -> $name {
                $name::$variant
            }

            fn count(count: u32) -> $name {
                $name::$count(count)
            }

            fn get(&self) -> Option<u32> {
                match self {
                    $name::$variant => None,
                    $name::$count(count) => Some(*count),
                }
            }
        }
    };
}
pub(crate) use word;
