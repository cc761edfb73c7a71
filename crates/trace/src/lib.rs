//! headrace-trace
