//! headrace-storage
