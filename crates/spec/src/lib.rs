//! headrace-spec
