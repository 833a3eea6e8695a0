//! Attacks from outside on the running `fixbolt`, one file for each place that is attacked.
//!
//! Each test asserts the bound that holds against an attack. The client is this folder's own and
//! uses none of Fixbolt's crates, so a mistake in them is not on both sides. All connections are on
//! loopback, and each server has a port and a folder of its own.

mod backup_host;
mod before_logon;
mod clock;
mod disk;
mod echo;
mod files;
mod flood;
mod halted;
mod lines;
mod logons;
mod message;
mod names;
mod peer;
mod process;
mod send;
mod server;
