//! Baselines: states, grades, acceptance, and the lists of real servers.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests say what they expect"
)]

mod acceptance;
mod common;
mod grades;
mod properties;
mod real_lists;
mod states;
