//! The C library as a user has it: installed by `make install`, found by pkg-config, used by programs in C and C++.

mod examples;
mod header;
mod install;
mod memory;
mod programs;
mod support;
mod vectors;
