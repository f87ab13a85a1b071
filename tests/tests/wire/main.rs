//! The wire layer against servers of all kinds.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::format_collect,
    reason = "helpers of tests say what they expect"
)]

mod config;
mod fixture;
mod http;
mod memory;
mod probe;
mod process;
mod real;
mod stdio;
mod web;
