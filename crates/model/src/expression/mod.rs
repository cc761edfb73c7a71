//! Expressions: text such as `p.number == n and p.kind == data`, parsed, given types, and compiled
//! to one tree of operations for each word of the result.

mod check;
mod code;
mod external;
mod functions;
mod parser;
mod stores;
mod syntax;

pub use check::{Allowed, Scope, Step, Typed, Variable};
pub use code::{Array, Code, NO_ELEMENT, Operator, Pure, Reason, World, evaluate};
pub use external::{Call, External, Function};
pub use parser::{parse, parse_assignment};
pub use stores::{StoreField, StoreName, used_stores};
pub use syntax::{Expression, ExpressionError, Syntax};
