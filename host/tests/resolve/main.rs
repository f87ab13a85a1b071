//! `real_path` on real trees with links.
#![cfg(unix)]
#![expect(clippy::expect_used, reason = "a tree that cannot be built is the test's failure")]

mod differential;
mod links;
mod tree;
