//! Attacks from outside on the running `fixbolt`, one file for each place that is attacked.
//!
//! Each test asserts the bound that holds against an attack. The client is this folder's own and
//! uses none of Fixbolt's crates, so a mistake in them is not on both sides. All connections are on
//! loopback, and each server has a port and a folder of its own.
//!
//! The ordinary tests are short versions. Those that are ignored are the whole attacks with their
//! measurements; `.ci/long` runs them.

mod backup_host;
mod before_logon;
mod clock;
mod disk;
mod echo;
mod faults;
mod files;
mod flood;
mod halted;
mod handshakes;
mod latency;
mod lines;
mod logons;
mod message;
mod names;
mod peer;
mod process;
mod replay;
mod send;
mod server;
mod share;
mod tls;
mod whole;
