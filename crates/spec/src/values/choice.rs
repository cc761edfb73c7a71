//! One of a few words.

/// Declares an enum whose variants are words in the scenario file.
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident {
            $( $(#[doc = $variant_doc:literal])+ $variant:ident = $word:literal ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        pub enum $name {
            $(
                $(#[doc = $variant_doc])+
                #[serde(rename = $word)]
                $variant,
            )+
        }

        impl $name {
            /// Every choice, in the order of the reference.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word that the scenario file uses.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word),+
                }
            }
        }

        impl $crate::declare::Leaf for $name {
            type Value = $name;

            fn expected() -> String {
                $crate::names::or(&[$($word),+])
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({ "enum": [$($word),+] })
            }

            fn parse(node: &$crate::tree::Node) -> Result<$name, String> {
                let $crate::tree::Raw::Text(given) = &node.raw else {
                    return Err(String::new());
                };
                match given.as_str() {
                    $($word => Ok($name::$variant),)+
                    other => Err($crate::names::guess(other, &[$($word),+])),
                }
            }

            fn format(value: &$name) -> $crate::tree::Raw {
                value.word().into()
            }
        }
    };
}
pub(crate) use choice;
