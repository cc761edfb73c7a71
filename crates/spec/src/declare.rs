//! How a field is declared: once, in `section!`.
//!
//! From a section's declaration come its struct, its reader with the error
//! messages, its canonical text, the rows of `explain`, the JSON Schema and the
//! reference page. A field reads
//!
//! ```text
//! /// One line of documentation, with the unit if it is not in the type.
//! name: Type = form(…),
//! name: Type as Codec = form(…),      // a codec other than the type itself
//! ```
//!
//! with one of these forms:
//!
//! | form | meaning |
//! | --- | --- |
//! | `required(example)` | must be given |
//! | `default(value, "source")` | the value if not given, and why that one |
//! | `optional("what holds without it")` | an `Option` |
//! | `same(field)` | if not given, the value of that earlier field |
//! | `supplied("what it is")` | if not given, filled in before reading |
//! | `section()` | a table of its own |
//! | `kinds()` | the fields of one of several kinds, in this same table |
//!
//! `aka ["other"]` after a form names words that people write for the field;
//! they are not accepted, but the error then names the right one.

use crate::error::{Error, shorten};
use crate::names;
use crate::sections::Scenario;
use crate::tree::{Node, Origin, Raw, Table, join};

/// Reads, prints and describes one type of value.
pub(crate) trait Codec {
    /// The type that the struct's field has.
    type Value;

    /// What a value of this type looks like.
    fn shape() -> Shape;

    /// Reads the value of the field `path`.
    fn read(node: &Node, path: &str) -> Result<Self::Value, Error>;

    /// The canonical value; none for an optional value that is not given.
    fn print(value: &Self::Value) -> Option<Raw>;

    /// Checks the value against the other fields of the scenario.
    fn check(_value: &Self::Value, _all: &Scenario, _at: &Place<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// A value that is written as one scalar (or list, or table of the user's own
/// keys): everything that is not a section.
pub(crate) trait Leaf {
    /// The type that the struct's field has.
    type Value;

    /// What is expected, with an example: `a rate such as "1 Gbit/s"`.
    fn expected() -> String;

    /// The JSON Schema of the value as it is written.
    fn schema() -> serde_json::Value;

    /// The value, or what is wrong with it beyond not being as expected (may be
    /// empty).
    fn parse(node: &Node) -> Result<Self::Value, String>;

    /// The canonical raw value.
    fn format(value: &Self::Value) -> Raw;

    /// What else there is to know about such a value.
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

/// An array of tables, at least one: `[[name]]` in the file.
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

/// How a leaf is treated beyond reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Not at all.
    Plain,
    /// It is text of any kind.
    Text,
    /// It may be a table whose keys the user chooses.
    Keys,
    /// It names a file relative to the scenario's folder.
    File,
}

/// What can stand in a field.
pub(crate) enum Shape {
    Leaf {
        expected: String,
        schema: serde_json::Value,
        nature: Nature,
    },
    Section(Section),
    /// A table that is one of several kinds.
    Kinds(Kinds),
    /// An array of tables.
    Tables(Section),
}

/// A table with declared fields.
pub(crate) struct Section {
    pub doc: String,
    pub fields: Vec<Field>,
}

/// Which kind a table is of, and each kind's fields.
pub(crate) struct Kinds {
    /// The field `kind` itself.
    pub kind: Box<Field>,
    pub default: &'static str,
    pub kinds: Vec<(&'static str, Section)>,
}

/// One declared field.
pub(crate) struct Field {
    pub name: &'static str,
    pub doc: String,
    pub aka: &'static [&'static str],
    pub presence: Presence,
    pub shape: Shape,
}

/// What holds if a field is not given.
pub(crate) enum Presence {
    Required { example: Raw },
    Default { value: Raw, source: &'static str },
    Optional { without: &'static str },
    Same { field: &'static str },
    Supplied { from: &'static str },
    Section,
    Kinds,
}

impl Field {
    pub(crate) fn new(
        name: &'static str,
        doc: &str,
        aka: &'static [&'static str],
        presence: Presence,
        shape: Shape,
    ) -> Field {
        let shape = match (shape, &presence) {
            // A section that is nothing but one of several kinds.
            (Shape::Kinds(kinds), Presence::Section) => {
                let doc = prose(doc);
                let kinds = Field::new("kind", "", &[], Presence::Kinds, Shape::Kinds(kinds));
                Shape::Section(Section {
                    doc,
                    fields: vec![kinds],
                })
            }
            // The section says what its kinds are about.
            (Shape::Kinds(mut kinds), _) if !doc.is_empty() => {
                kinds.kind.doc = prose(doc);
                Shape::Kinds(kinds)
            }
            (shape, _) => shape,
        };
        Field {
            name,
            doc: prose(doc),
            aka,
            presence,
            shape,
        }
    }
}

/// A doc comment as one paragraph.
pub(crate) fn prose(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Section {
    /// The kinds whose fields stand in this same table.
    pub(crate) fn kinds(&self) -> Option<&Kinds> {
        self.fields
            .iter()
            .find_map(|field| match (&field.presence, &field.shape) {
                (Presence::Kinds, Shape::Kinds(kinds)) => Some(kinds),
                _ => None,
            })
    }

    /// The fields that a table of this section can have: its own, and those of
    /// its kinds, or of one of them.
    pub(crate) fn fields<'a>(&'a self, kind: Option<&str>) -> Vec<&'a Field> {
        let mut fields: Vec<&Field> = Vec::new();
        for field in &self.fields {
            match &field.shape {
                Shape::Kinds(kinds) => {
                    fields.push(kinds.kind.as_ref());
                    let chosen = kinds
                        .kinds
                        .iter()
                        .filter(|(name, _)| kind.is_none_or(|kind| kind == *name));
                    fields.extend(chosen.flat_map(|(_, section)| &section.fields));
                }
                _ => fields.push(field),
            }
        }
        fields
    }

    /// The kind that a table of this section is of: as given, or the default.
    pub(crate) fn kind_of(&self, table: &Table) -> Option<String> {
        let kinds = self.kinds()?;
        match table.get("kind").map(|node| &node.raw) {
            Some(Raw::Text(kind)) => Some(kind.clone()),
            _ => Some(kinds.default.to_owned()),
        }
    }
}

impl Kinds {
    pub(crate) fn new(
        doc: &str,
        default: &'static str,
        source: &'static str,
        kinds: Vec<(&'static str, Section)>,
    ) -> Kinds {
        let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
        let shape = Shape::Leaf {
            expected: names::or(&names),
            schema: serde_json::json!({ "enum": names }),
            nature: Nature::Plain,
        };
        let presence = Presence::Default {
            value: default.into(),
            source,
        };
        Kinds {
            kind: Box::new(Field::new("kind", doc, &[], presence, shape)),
            default,
            kinds,
        }
    }
}

/// Where a check looks and reports.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    pub root: &'a Node,
    pub path: String,
}

impl Place<'_> {
    /// The same for a field of this table.
    pub(crate) fn field(&self, name: &str) -> Place<'_> {
        Place {
            root: self.root,
            path: join(&self.path, name),
        }
    }

    /// An error about the value of a field of this table.
    pub(crate) fn error(&self, field: &str, message: impl Into<String>) -> Error {
        let path = join(&self.path, field);
        match self.root.find(&path) {
            Some(node) => Error::value(node, &path, message),
            None => {
                let origin = self
                    .root
                    .find(&self.path)
                    .unwrap_or(self.root)
                    .origin
                    .clone();
                let mut error = Error::at(&origin, message);
                error.text = path;
                error
            }
        }
    }
}

/// The table of a section.
pub(crate) fn table_of<'a>(node: &'a Node, path: &str) -> Result<&'a Table, Error> {
    // `structure::check` has seen to it, except for a preset's mistakes.
    node.table()
        .ok_or_else(|| Error::value(node, path, "expected a section"))
}

/// The error for a required field that nobody gave.
pub(crate) fn missing(section: &Node, path: &str, field: &str, example: &Raw) -> Error {
    let entry = |name: &str, value: &Raw| format!("{} = {value}", crate::tree::key(name));
    if let Raw::List(list) = example
        && let Some(Raw::Table(first)) = list.first().map(|node| &node.raw)
    {
        let lines = first
            .entries
            .iter()
            .map(|each| entry(&each.key, &each.node.raw));
        let lines = lines.collect::<Vec<_>>().join(" and ");
        let name = format!("[[{}]]", join(path, field));
        return Error::nowhere(format!(
            "missing section {name}: write {name} and below it, for example, {lines}"
        ));
    }
    let (heading, line) = (heading(path), entry(field, example));
    match section.origin {
        Origin::File { .. } => {
            let message =
                format!("missing field {field:?} in {heading}: write, for example, {line}");
            Error::at(&section.origin, message)
        }
        // The file has no such section: what there is of it others gave.
        _ => Error::nowhere(format!(
            "missing section {heading}: write {heading} and below it, for example, {line}"
        )),
    }
}

/// How a table's heading is written in the file.
pub(crate) fn heading(path: &str) -> String {
    let names: Vec<&str> = path.split('.').collect();
    match names
        .iter()
        .position(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    {
        Some(at) if !path.is_empty() => format!("[[{}]]", names[..at].join(".")),
        _ => format!("[{path}]"),
    }
}

/// Which of the kinds a table says it is.
pub(crate) fn kind_of(
    table: &Table,
    path: &str,
    default: &'static str,
    names: &[&'static str],
) -> Result<&'static str, Error> {
    let Some(node) = table.get("kind") else {
        return Ok(default);
    };
    let Raw::Text(given) = &node.raw else {
        let expected = names::or(names);
        return Err(Error::value(
            node,
            &join(path, "kind"),
            format!("expected {expected}"),
        ));
    };
    names
        .iter()
        .find(|name| *name == given)
        .copied()
        .ok_or_else(|| {
            let message = format!("expected {}{}", names::or(names), names::hint(given, names));
            Error::value(node, &join(path, "kind"), message)
        })
}

/// A short quotation of a name.
pub(crate) fn quoted(name: &str) -> String {
    format!("{:?}", shorten(name))
}

/// Declares a table of fields; see the module's documentation.
macro_rules! section {
    (
        $(#[doc = $doc:literal])+
        $(#[derive($($derive:ident),*)])?
        pub struct $name:ident {
            $(
                $(#[doc = $field_doc:literal])+
                $(#[serde($($serde:tt)*)])?
                $field:ident : $type:ty $(as $codec:ty)? =
                    $form:ident ( $($argument:tt)* ) $(aka $aka:tt)?
            ),* $(,)?
        }
        $(check $check:path;)?
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub struct $name {
            $(
                $(#[doc = $field_doc])+
                $(#[serde($($serde)*)])?
                pub $field: $type,
            )*
        }

        impl $name {
            pub(crate) fn section() -> $crate::declare::Section {
                $crate::declare::Section {
                    doc: $crate::declare::prose(concat!($($doc, "\n"),+)),
                    fields: vec![$($crate::declare::Field::new(
                        stringify!($field),
                        concat!($($field_doc, "\n"),+),
                        section!(@aka $($aka)?),
                        section!(@presence $form ($($argument)*)),
                        <section!(@codec $type $(, $codec)?) as $crate::declare::Codec>::shape(),
                    )),*],
                }
            }
        }

        // A kind may have no fields at all.
        #[allow(unused_variables, unused_mut)]
        impl $crate::declare::Codec for $name {
            type Value = $name;

            fn shape() -> $crate::declare::Shape {
                $crate::declare::Shape::Section($name::section())
            }

            fn read(node: &$crate::tree::Node, path: &str) -> Result<$name, $crate::Error> {
                let table = $crate::declare::table_of(node, path)?;
                $(
                    let $field = section!(
                        @read (node, table, path) $field
                        [section!(@codec $type $(, $codec)?)] $form ($($argument)*)
                    );
                )*
                Ok($name { $($field),* })
            }

            fn print(value: &$name) -> Option<$crate::tree::Raw> {
                let mut table = $crate::tree::Table::default();
                $(
                    if let Some(raw) = <section!(@codec $type $(, $codec)?)
                        as $crate::declare::Codec>::print(&value.$field)
                    {
                        section!(@print table $field raw $form);
                    }
                )*
                Some(table.into())
            }

            fn check(
                value: &$name,
                all: &$crate::Scenario,
                at: &$crate::declare::Place<'_>,
            ) -> Result<(), $crate::Error> {
                $($check(value, all, at)?;)?
                $(
                    <section!(@codec $type $(, $codec)?) as $crate::declare::Codec>::check(
                        &value.$field, all, &section!(@place at $field $form),
                    )?;
                )*
                Ok(())
            }
        }
    };

    (@aka) => { &[] };
    (@aka [$($other:literal),+]) => { &[$($other),+] };

    (@codec $type:ty) => { $type };
    (@codec $type:ty, $codec:ty) => { $codec };

    (@presence required($example:expr)) => {
        $crate::declare::Presence::Required { example: $example.into() }
    };
    (@presence default($value:expr, $source:literal)) => {
        $crate::declare::Presence::Default { value: $value.into(), source: $source }
    };
    (@presence optional($without:literal)) => {
        $crate::declare::Presence::Optional { without: $without }
    };
    (@presence same($other:ident)) => {
        $crate::declare::Presence::Same { field: stringify!($other) }
    };
    (@presence supplied($from:literal)) => {
        $crate::declare::Presence::Supplied { from: $from }
    };
    (@presence section()) => { $crate::declare::Presence::Section };
    (@presence kinds()) => { $crate::declare::Presence::Kinds };

    (@read $in:tt $field:ident [$codec:ty] required($example:expr)) => {
        section!(@given $in $field [$codec], {
            let (node, _, path) = section!(@in $in);
            let example = $example.into();
            return Err($crate::declare::missing(node, path, stringify!($field), &example));
        })
    };
    (@read $in:tt $field:ident [$codec:ty] supplied($from:literal)) => {
        section!(@read $in $field [$codec] required(""))
    };
    (@read $in:tt $field:ident [$codec:ty] default($value:expr, $source:literal)) => {
        section!(@given $in $field [$codec], {
            let (_, _, path) = section!(@in $in);
            let default = $crate::tree::Node::plain($value.into());
            let path = $crate::tree::join(path, stringify!($field));
            <$codec as $crate::declare::Codec>::read(&default, &path)?
        })
    };
    (@read $in:tt $field:ident [$codec:ty] optional($without:literal)) => {
        section!(@given $in $field [$codec], None)
    };
    (@read $in:tt $field:ident [$codec:ty] same($other:ident)) => {
        section!(@given $in $field [$codec], Clone::clone(&$other))
    };
    (@read $in:tt $field:ident [$codec:ty] section()) => {
        section!(@given $in $field [$codec], {
            let (_, _, path) = section!(@in $in);
            let empty = $crate::tree::Node::plain($crate::tree::Table::default().into());
            let path = $crate::tree::join(path, stringify!($field));
            <$codec as $crate::declare::Codec>::read(&empty, &path)?
        })
    };
    (@read $in:tt $field:ident [$codec:ty] kinds()) => {{
        let (node, _, path) = section!(@in $in);
        <$codec as $crate::declare::Codec>::read(node, path)?
    }};
    (@in ($node:ident, $table:ident, $path:ident)) => { ($node, $table, $path) };
    (@given $in:tt $field:ident [$codec:ty], $otherwise:expr) => {
        match section!(@in $in) {
            (_, table, path) => match table.get(stringify!($field)) {
                Some(given) => {
                    let path = $crate::tree::join(path, stringify!($field));
                    <$codec as $crate::declare::Codec>::read(given, &path)?
                }
                None => $otherwise,
            },
        }
    };

    (@print $table:ident $field:ident $raw:ident kinds) => {
        if let $crate::tree::Raw::Table(inner) = $raw {
            $table.entries.extend(inner.entries);
        }
    };
    (@print $table:ident $field:ident $raw:ident $form:ident) => {
        $table.push(stringify!($field), $crate::tree::Node::plain($raw));
    };

    (@place $at:ident $field:ident kinds) => { $at };
    (@place $at:ident $field:ident $form:ident) => { $at.field(stringify!($field)) };
}
pub(crate) use section;

/// Declares a table that is one of several kinds, each a section in a file of
/// its own: a kind is added by its file and one line here.
macro_rules! kinds {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident default $default:literal, $source:literal {
            $($kind:ident = $text:literal),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(tag = "kind")]
        pub enum $name {
            $(
                #[doc = concat!("`kind = \"", $text, "\"`")]
                #[serde(rename = $text)]
                $kind($kind),
            )+
        }

        impl $name {
            const KINDS: &'static [&'static str] = &[$($text),+];

            /// The kind's name, as the scenario file writes it.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $($name::$kind(_) => $text),+
                }
            }
        }

        impl $crate::declare::Codec for $name {
            type Value = $name;

            fn shape() -> $crate::declare::Shape {
                $crate::declare::Shape::Kinds($crate::declare::Kinds::new(
                    concat!($($doc, "\n"),+),
                    $default,
                    $source,
                    vec![$(($text, $kind::section())),+],
                ))
            }

            fn read(node: &$crate::tree::Node, path: &str) -> Result<$name, $crate::Error> {
                let table = $crate::declare::table_of(node, path)?;
                match $crate::declare::kind_of(table, path, $default, $name::KINDS)? {
                    $($text => <$kind as $crate::declare::Codec>::read(node, path).map($name::$kind),)+
                    // `kind_of` answers with one of the names above.
                    _ => unreachable!(),
                }
            }

            fn print(value: &$name) -> Option<$crate::tree::Raw> {
                let mut table = $crate::tree::Table::default();
                table.push("kind", $crate::tree::Node::plain(value.kind().into()));
                let fields = match value {
                    $($name::$kind(kind) => <$kind as $crate::declare::Codec>::print(kind)),+
                };
                if let Some($crate::tree::Raw::Table(fields)) = fields {
                    table.entries.extend(fields.entries);
                }
                Some(table.into())
            }

            fn check(
                value: &$name,
                all: &$crate::Scenario,
                at: &$crate::declare::Place<'_>,
            ) -> Result<(), $crate::Error> {
                match value {
                    $($name::$kind(kind) => <$kind as $crate::declare::Codec>::check(kind, all, at)),+
                }
            }
        }
    };
}
pub(crate) use kinds;
