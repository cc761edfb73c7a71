//! headrace-net
