//! The macros that declare sections and kinds.

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
        $(removed {
            $($gone:literal : $gone_type:ty = $neutral:ident ( $($neutral_argument:tt)* ), $instead:literal);+ $(;)?
        })?
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
                    name: stringify!($name),
                    doc: $crate::declare::prose(concat!($($doc, "\n"),+)),
                    fields: vec![$($crate::declare::Field::new(
                        stringify!($field),
                        concat!($($field_doc, "\n"),+),
                        section!(@aka $($aka)?),
                        section!(@presence $form ($($argument)*)),
                        <section!(@codec $type $(, $codec)?) as $crate::declare::Codec>::shape(),
                    )),*],
                    removed: vec![$($($crate::declare::Removed {
                        name: $gone,
                        instead: $instead,
                        is_neutral: section!(@neutral $gone_type, $neutral ($($neutral_argument)*)),
                    }),+)?],
                    several: false,
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

    (@neutral $type:ty, default($value:expr)) => {
        |node, _| $crate::declare::reads_alike::<$type>(node, &$crate::tree::Node::plain($value.into()))
    };
    (@neutral $type:ty, same($other:ident)) => {
        |node, table| {
            let other = table.get(stringify!($other));
            other.is_some_and(|other| $crate::declare::reads_alike::<$type>(node, other))
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
        $crate::declare::Presence::Optional { without: $without, example: None }
    };
    (@presence optional($without:literal, $example:expr)) => {
        $crate::declare::Presence::Optional { without: $without, example: Some($example.into()) }
    };
    (@presence same($other:ident)) => {
        $crate::declare::Presence::Same { field: stringify!($other) }
    };
    (@presence supplied($from:literal)) => {
        $crate::declare::Presence::Supplied { from: $from }
    };
    (@presence over($path:literal)) => {
        $crate::declare::Presence::Over { path: $path }
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
    (@read $in:tt $field:ident [$codec:ty] optional($without:literal $(, $example:expr)?)) => {
        section!(@given $in $field [$codec], None)
    };
    (@read $in:tt $field:ident [$codec:ty] over($path:literal)) => {
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
/// its own. A kind is added by its file and one line here.
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
        #[allow(clippy::large_enum_variant, reason = "a scenario has few of them")]
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
                    stringify!($name),
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
