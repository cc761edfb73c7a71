//! Declaration of fields, once each, in `section!`.
//!
//! A section's declaration gives its struct, its reader with the error messages
//! and its canonical text. The rows of `explain`, the JSON Schema and the
//! reference page follow from it, too. A field reads
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
//! | `optional("what holds without it", example)` | the same, with an answer for forms |
//! | `same(field)` | if not given, the value of that earlier field |
//! | `supplied("what it is")` | if not given, filled in before reading |
//! | `section()` | a table of its own |
//! | `over("path")` | an `Option` of a table: absent fields have the values of the table at that path |
//! | `kinds()` | the fields of one of several kinds, in this same table |
//!
//! `aka ["other"]` after a form names words that people write for the field;
//! they are not accepted, but the error then names the right one.
//!
//! `removed { "name": Type = default(value), "what to write instead"; }` after the fields names
//! those of earlier versions. A saved document may have such a field with its old default, or with
//! the value of another field of its section (`same(field)`). The field is ignored. Another value
//! is refused, and the error says what to write.

mod codec;
mod macros;
mod place;
mod read;
mod shape;

pub(crate) use codec::{Codec, Leaf, OneOrSeveral, Tables, one_or_several, reads_alike};
pub(crate) use macros::{kinds, section};
pub(crate) use place::Place;
pub(crate) use read::{heading, kind_of, missing, quoted, table_of};
pub(crate) use shape::{Field, Kinds, Nature, Presence, Removed, Section, Shape, prose};
