//! A policy module in service: loaded, swapped, tried out and taken back while calls run.
//!
//! A [`Reloader`] keeps one judge in force behind the [`State`](crate::invoke::State) that calls are judged by. Whatever comes
//! to replace it, a new module or new settings, goes through one gate first ([`Candidate::admit`]); on any failure the old
//! one stays. [`Watch`] calls for a reload when files change, or on SIGHUP. A [`Trial`] lets a candidate judge the same calls
//! beside the module in force, and counts where they differ.
//!
//! ```
//! use std::sync::Arc;
//! use toolwarden::lifecycle::{NoLifecycleEvents, Origin, Reload, Reloader, ReloaderOptions};
//! use toolwarden::module::CachePolicy;
//! use toolwarden::registry::Catalogue;
//! use toolwarden::settings::Settings;
//!
//! let options = ReloaderOptions { catalogue: Catalogue::builtin(), context_window: 0, cache: CachePolicy::Off };
//! let origin = Origin::new(Vec::new(), || Ok(Settings::default()));
//! let reloader = Reloader::start(origin, options, Arc::new(NoLifecycleEvents)).unwrap();
//! assert_eq!(reloader.state().current().policy().generation.0, 1);
//! assert_eq!(reloader.reload().unwrap(), Reload::Unchanged);
//! ```

mod candidate;
mod comparison;
mod event;
mod health;
mod recorded;
mod refusal;
mod release;
mod reloader;
mod safety;
mod trial;
mod watch;

pub use candidate::{Budget, Candidate, ModuleFile};
pub use comparison::{Change, Comparison, compare};
pub use event::{Cause, LifecycleEvent, LifecycleSink, NoLifecycleEvents};
pub use recorded::Recorded;
pub use refusal::{Check, Refusal};
pub use reloader::{Origin, Reload, Reloader, ReloaderOptions};
pub use safety::Safety;
pub use trial::{Disagreement, Trial, TrialReport};
pub use watch::{Watch, WatchOptions};
