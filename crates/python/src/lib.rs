//! Headrace's Python extension module.
