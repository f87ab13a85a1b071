//! A policy module's life: load, check, compile, configure, ask.
//!
//! [`Component`] is a module that fits the contract; [`PolicyModule`] is one that took settings and can be asked. Both are
//! immutable. Whatever a module does wrong while it is asked comes back as a [`Fault`], which the caller turns into a denial.

mod anatomy;
mod answer;
mod aot;
mod cache;
mod component;
mod contract;
mod engine;
mod fault;
mod inert;
mod instance;
mod limits;
mod policy;
mod question;
mod tuning;

pub use crate::digest::Digest;
pub use anatomy::Anatomy;
pub use answer::{
    Admission, Candidacy, CwdAnswer, CwdClass, CwdJudgement, CwdWhy, Deferral, Effect, Exposure, Gate, Kind, Step,
    StepOutcome,
};
pub use cache::{CacheError, CachePolicy, CacheReport};
pub use component::{Compilation, Component, LoadError, ModuleInfo};
pub use fault::Fault;
pub use limits::{Isolation, Limits, Wasi};
pub use policy::{ConfigureError, Policy, PolicyModule, SettingsIssue};
pub use question::{Definition, Question, Totals};
