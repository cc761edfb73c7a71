//! Interface of value types: parsing, printing and description.

use crate::declare::{Nature, Place, Section, Shape};
use crate::error::Error;
use crate::sections::Scenario;
use crate::tree::{Node, Raw};

/// Reads, prints and describes one type of value.
pub(crate) trait Codec {
    /// The type that the struct's field has.
    type Value;

    /// Returns the shape of a value of this type.
    fn shape() -> Shape;

    /// Reads the value of the field `path`.
    fn read(node: &Node, path: &str) -> Result<Self::Value, Error>;

    /// The canonical value; none for an optional value that is not given.
    fn print(value: &Self::Value) -> Option<Raw>;

    /// Returns true if a value says that there is none, where one may be left out.
    fn says_none(_node: &Node) -> bool {
        false
    }

    /// Checks the value against the other fields of the scenario.
    fn check(_value: &Self::Value, _all: &Scenario, _at: &Place<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Returns true if two nodes are read as equal values.
pub(crate) fn reads_alike<C: Codec<Value: PartialEq>>(one: &Node, other: &Node) -> bool {
    match (C::read(one, ""), C::read(other, "")) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// A value that is written as one scalar (or list, or table of the user's own
/// keys): everything that is not a section.
pub(crate) trait Leaf {
    /// The type that the struct's field has.
    type Value;

    /// Expected value with an example: `a rate such as "1 Gbit/s"`.
    fn expected() -> String;

    /// The JSON Schema of the value as it is written.
    fn schema() -> serde_json::Value;

    /// The value, or its error beyond not being as expected (may be empty).
    fn parse(node: &Node) -> Result<Self::Value, String>;

    /// The canonical raw value.
    fn format(value: &Self::Value) -> Raw;

    /// Special treatment of such a value.
    const NATURE: Nature = Nature::Plain;
}

impl<T: Leaf> Codec for T {
    type Value = T::Value;

    fn shape() -> Shape {
        Shape::Leaf {
            expected: T::expected(),
            schema: T::schema(),
            nature: T::NATURE,
        }
    }

    fn read(node: &Node, path: &str) -> Result<T::Value, Error> {
        T::parse(node).map_err(|wrong| {
            let expected = T::expected();
            let colon = if wrong.is_empty() { "" } else { ": " };
            Error::value(node, path, format!("expected {expected}{colon}{wrong}"))
        })
    }

    fn print(value: &T::Value) -> Option<Raw> {
        Some(T::format(value))
    }
}

impl<C: Codec> Codec for Option<C> {
    type Value = Option<C::Value>;

    fn shape() -> Shape {
        C::shape()
    }

    fn read(node: &Node, path: &str) -> Result<Option<C::Value>, Error> {
        if C::says_none(node) {
            return Ok(None);
        }
        C::read(node, path).map(Some)
    }

    fn print(value: &Option<C::Value>) -> Option<Raw> {
        value.as_ref().and_then(C::print)
    }

    fn check(value: &Option<C::Value>, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
        value
            .as_ref()
            .map_or(Ok(()), |value| C::check(value, all, at))
    }
}

/// An array of tables, at least one unless it may be left out: `[[name]]` in the file.
pub(crate) struct Tables<C>(std::marker::PhantomData<C>);

impl<C: Codec> Codec for Tables<C> {
    type Value = Vec<C::Value>;

    fn shape() -> Shape {
        match C::shape() {
            Shape::Section(section) => Shape::Tables(section),
            other => other,
        }
    }

    fn read(node: &Node, path: &str) -> Result<Vec<C::Value>, Error> {
        let Raw::List(list) = &node.raw else {
            let message = format!("expected one or more sections [[{path}]]");
            return Err(Error::value(node, path, message));
        };
        if list.is_empty() {
            return Err(Error::value(
                node,
                path,
                format!("expected at least one [[{path}]]"),
            ));
        }
        let each = list.iter().enumerate();
        each.map(|(index, node)| C::read(node, &format!("{path}.{index}")))
            .collect()
    }

    fn says_none(node: &Node) -> bool {
        matches!(&node.raw, Raw::List(list) if list.is_empty())
    }

    fn print(value: &Vec<C::Value>) -> Option<Raw> {
        Some(Raw::List(
            value.iter().filter_map(C::print).map(Node::plain).collect(),
        ))
    }

    fn check(value: &Vec<C::Value>, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
        let mut each = value.iter().enumerate();
        each.try_for_each(|(index, value)| C::check(value, all, &at.field(&index.to_string())))
    }
}

/// One table, or an array of at least one: `[name]` or several `[[name]]` in the file.
pub(crate) struct OneOrSeveral<C>(std::marker::PhantomData<C>);

impl<C: Codec> Codec for OneOrSeveral<C> {
    type Value = Vec<C::Value>;

    fn shape() -> Shape {
        match C::shape() {
            Shape::Section(section) => Shape::Section(Section {
                several: true,
                ..section
            }),
            other => other,
        }
    }

    fn read(node: &Node, path: &str) -> Result<Vec<C::Value>, Error> {
        match &node.raw {
            Raw::List(_) => Tables::<C>::read(node, path),
            _ => Ok(vec![C::read(node, path)?]),
        }
    }

    fn print(value: &Vec<C::Value>) -> Option<Raw> {
        match &value[..] {
            [only] => C::print(only),
            _ => Tables::<C>::print(value),
        }
    }

    fn check(value: &Vec<C::Value>, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
        let listed = at.root.find(&at.path);
        match (listed.map(|node| &node.raw), &value[..]) {
            (Some(Raw::List(_)), _) => Tables::<C>::check(value, all, at),
            (_, each) => each.iter().try_for_each(|it| C::check(it, all, at)),
        }
    }
}

/// Serializes a list of one as that one, as it is written.
#[expect(clippy::ptr_arg, reason = "serde passes the field as it is")]
pub(crate) fn one_or_several<T: serde::Serialize, S: serde::Serializer>(
    value: &Vec<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match &value[..] {
        [only] => serde::Serialize::serialize(only, serializer),
        several => serde::Serialize::serialize(several, serializer),
    }
}
