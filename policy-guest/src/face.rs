//! What the faces share: the one instance behind the exported functions. Hidden from the documentation: [`export!`](crate::export)
//! is the way here.

#![allow(unsafe_code, reason = "one line: a static that only one thread looks at")]

use std::cell::RefCell;
use std::string::String;
use std::vec::Vec;

use crate::kit::PolicyModule;
use crate::module::Instance;
use crate::settings::Issue;

/// Tells the allocator that what lives now, the settings, is there to stay. To be called when settings were taken and nothing
/// passing lives any more.
pub fn keep() {
    #[cfg(all(target_arch = "wasm32", feature = "arena"))]
    crate::arena::keep();
}

/// What stands behind exported functions.
pub trait Exported {
    /// The module.
    type Module: PolicyModule;

    /// Where it lies.
    fn slot() -> &'static Slot<Self::Module>;
}

/// The one module of a WebAssembly instance.
///
/// A host that goes on with an instance after a trap meets a cell that is still borrowed. So nothing here panics on that, a
/// module's own code never runs while the cell is borrowed for change, and what is found taken reads as *no settings*.
#[derive(Debug, Default)]
pub struct Slot<M>(RefCell<Instance<M>>);

// SAFETY: a WebAssembly instance runs one call at a time, on one thread.
#[cfg(target_arch = "wasm32")]
unsafe impl<M> Sync for Slot<M> {}

impl<M: PolicyModule> Slot<M> {
    /// A module without settings.
    #[must_use]
    pub const fn new() -> Self {
        Self(RefCell::new(Instance::new()))
    }

    /// Takes settings. They are read before anything is changed, so that a trap on the way leaves the former ones whole.
    ///
    /// # Errors
    ///
    /// All that is wrong with them.
    pub fn configure(&self, settings: String) -> Result<(), Vec<Issue>> {
        let module = M::configure(&settings)?;
        drop(settings);
        let Ok(mut instance) = self.0.try_borrow_mut() else {
            return Err(std::vec![Issue {
                pointer: String::new(),
                problem: "a former call of this instance did not end".into(),
                allowed: "a fresh instance".into(),
            }]);
        };
        let former = instance.replace(module);
        drop(instance);
        drop(former);
        Ok(())
    }

    /// Asks the module.
    pub fn ask<T>(&self, question: impl FnOnce(&Instance<M>) -> T) -> T {
        let none = Instance::new();
        let instance = self.0.try_borrow();
        question(instance.as_deref().unwrap_or(&none))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BridgeState, Effect, Exposure, Totals};
    use crate::model::{Origin, Registration, ToolDefinition, ToolRef, Trust};
    use crate::settings::Settings;

    /// A module whose author trusts everybody, and whose code panics where it is told to.
    struct Careless {
        base: Settings,
        panics: bool,
    }

    impl PolicyModule for Careless {
        const NAME: &'static str = "careless";
        const VERSION: &'static str = "1.0.0";
        const SUMMARY: &'static str = "lets everything through";
        const SCHEMA: &'static str = "{}";

        fn configure(settings: &str) -> Result<Self, Vec<Issue>> {
            let (base, panics) = Settings::with_own(settings, |own| {
                assert!(!own.flag("panicsWhenConfigured", false));
                own.flag("panics", false)
            })?;
            Ok(Self { base, panics })
        }

        fn base(&self) -> &Settings {
            assert!(!self.panics);
            &self.base
        }
    }

    fn tool() -> ToolDefinition<'static> {
        let (origin, registration) = (Origin::Core, Registration::Registered);
        let tool = ToolRef { origin, registration, server: "", name: "Bash", public_name: "Bash" };
        ToolDefinition { tool, trust: Trust::Matching, tokens: 1, definition: "{}" }
    }

    fn admits(slot: &Slot<Careless>) -> bool {
        slot.ask(|module| module.admit_tool(&tool())).effect == Effect::Free
    }

    fn panics<T>(run: impl FnOnce() -> T) -> bool {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
    }

    #[test]
    fn whatever_its_author_wrote_a_module_without_settings_refuses() {
        let slot = Slot::<Careless>::new();
        assert!(!admits(&slot));
        let totals = Totals { bridge: BridgeState::Complete, candidates: 0, candidate_tokens: 0, context_window: 0 };
        assert_eq!(slot.ask(|module| module.should_defer(&tool(), &totals)).exposure, Exposure::Hidden);
        assert!(slot.configure("[]".into()).is_err() && !admits(&slot));
        assert!(slot.configure("{}".into()).is_ok() && admits(&slot));
    }

    #[test]
    fn settings_that_are_rejected_or_trap_leave_the_former_ones() {
        let slot = Slot::<Careless>::new();
        slot.configure("{}".into()).unwrap();
        assert!(slot.configure(r#"{"module":{"settings":{"strange":1}}}"#.into()).is_err());
        assert!(panics(|| slot.configure(r#"{"module":{"settings":{"panicsWhenConfigured":true}}}"#.into())));
        assert!(admits(&slot));
    }

    /// Under WebAssembly a trap unwinds nothing, so that a borrow is never given back.
    #[test]
    fn after_a_decision_that_trapped_nothing_changes_and_nothing_opens() {
        let slot = Slot::<Careless>::new();
        std::mem::forget(slot.0.borrow());
        assert!(!admits(&slot));
        assert_eq!(slot.configure("{}".into()).unwrap_err().len(), 1);
        assert!(!admits(&slot));

        let slot = Slot::<Careless>::new();
        std::mem::forget(slot.0.borrow_mut());
        assert!(!admits(&slot) && slot.configure("{}".into()).is_err());

        let slot = Slot::<Careless>::new();
        slot.configure(r#"{"module":{"settings":{"panics":true}}}"#.into()).unwrap();
        assert!(panics(|| admits(&slot)));
    }
}
