//! Attacks from outside on the running `fixbolt`, one file for each place that is attacked.
//!
//! Each test asserts the bound that holds against an attack. The client is this folder's own and
//! uses none of Fixbolt's crates, so a mistake in them is not on both sides. All connections are on
//! loopback, and each server has a port and a folder of its own.
#![allow(dead_code, unused_imports)] // more attacks follow

mod before_logon;
mod clock;
mod files;
mod flood;
mod halted;
mod lines;
mod message;
mod peer;
mod process;
mod send;
mod server;
