//! A FIX engine: acceptors and initiators over TCP, with journal and configuration.
#![deny(unsafe_code)]

pub mod config;
