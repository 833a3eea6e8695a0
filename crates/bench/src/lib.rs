//! Workloads and measurements of Fixbolt.
#![forbid(unsafe_code)]
