//! Toolwarden as a C library: `include/toolwarden.h`, over [`toolwarden::embed::Warden`].
//!
//! Nothing is decided here. What is here is the border: what C hands over is checked, what Rust hands over is owned by the
//! caller, nothing unwinds across, and whatever goes wrong is a status without an answer.
//!
//! | module | what it is |
//! |---|---|
//! | `border` | the functions of the header |
//! | `answer` | texts that cross, in both directions |
//! | `status` | what a function returns |
//! | `failure` | why there is no answer, and each thread's last one |
//! | `table` | handles, and the wardens behind them |
//! | `process` | a fork, noticed |
//!
//! `border` and `answer` alone hold unsafe code.

mod answer;
mod border;
mod failure;
mod process;
mod status;
mod table;
