//! What a policy module is, for those who write one.

use std::vec::Vec;

use crate::model::{
    Admission, Argument, CwdFacts, CwdJudgement, Deferral, Gate, Invocation, ToolDefinition, Totals, Workspace,
};
use crate::settings::{Issue, Settings};
use crate::trail::Trail;

/// A policy module: what it is, how it takes settings, and its decisions.
///
/// A value of the type is a module *under settings*. There is none before settings were taken, and rejected settings make
/// none: whatever an author forgets, a module without settings refuses everything, and the former ones stay in force.
///
/// Each decision is a pure function of the value and the facts. All of them are the [default module's](crate::DefaultModule)
/// until you write your own; to tighten one, ask the default first and take the [stricter](Gate::stricter) of two answers:
///
/// ```
/// use toolwarden_policy::{Gate, Invocation, Issue, PolicyModule, Settings, is_approval_gated};
///
/// struct NoFriday {
///     base: Settings,
///     tool: String,
/// }
///
/// impl PolicyModule for NoFriday {
///     const NAME: &'static str = "no-friday";
///     const VERSION: &'static str = env!("CARGO_PKG_VERSION");
///     const SUMMARY: &'static str = "asks before anything is deployed";
///     const SCHEMA: &'static str = r#"{"type":"object"}"#;
///
///     fn configure(settings: &str) -> Result<Self, Vec<Issue>> {
///         let (base, tool) = Settings::with_own(settings, |own| own.text("tool").unwrap_or("Deploy").to_owned())?;
///         Ok(Self { base, tool })
///     }
///
///     fn base(&self) -> &Settings {
///         &self.base
///     }
///
///     fn is_approval_gated(&self, call: &Invocation) -> Gate {
///         let usual = is_approval_gated(&self.base, call);
///         if call.tool.public_name != self.tool {
///             return usual;
///         }
///         usual.stricter(Gate::gated("deploy", "this deploys").about(call.argument("target").text))
///     }
/// }
///
/// toolwarden_policy::export!(NoFriday);
/// ```
pub trait PolicyModule: Sized + 'static {
    /// Its name, as `my-policy`.
    const NAME: &'static str;
    /// Its own version. Usual: `env!("CARGO_PKG_VERSION")`.
    const VERSION: &'static str;
    /// What it does, in one sentence.
    const SUMMARY: &'static str;
    /// JSON Schema (draft 2020-12) of its settings: the sections of `toolwarden.toml` that a module is handed, with its own
    /// in `module.settings`.
    const SCHEMA: &'static str;

    /// Takes settings: a JSON object as `configure` in `wit/policy.wit` describes it. [`Settings::with_own`] reads the default
    /// module's sections and your own together.
    ///
    /// # Errors
    ///
    /// One [`Issue`] for each fault. The former settings then stay in force.
    fn configure(settings: &str) -> Result<Self, Vec<Issue>>;

    /// The settings under which the default decisions are made. A module that makes none of those returns a default; what the
    /// person wrote into the other sections then means nothing, and `configure` had better say so.
    fn base(&self) -> &Settings;

    /// What a call comes to.
    fn is_approval_gated(&self, call: &Invocation) -> Gate {
        crate::is_approval_gated(self.base(), call)
    }

    /// The gate at registry build. A tool of which every call would be refused is one that the model need not see.
    fn admit_tool(&self, tool: &ToolDefinition) -> Admission {
        crate::admit_tool(self.base(), tool)
    }

    /// What the model is shown of a tool.
    fn should_defer(&self, tool: &ToolDefinition, totals: &Totals) -> Deferral {
        crate::should_defer(self.base(), tool, totals)
    }

    /// Where a cwd lies.
    fn classify_cwd(
        &self,
        given: Argument,
        workspace: &Workspace,
        facts: &CwdFacts,
        trail: &mut Trail,
    ) -> CwdJudgement {
        crate::classify_cwd(given, workspace, facts, trail)
    }
}

/// Makes the WebAssembly component behind `wit/policy.wit` out of a [`PolicyModule`]. Once in a crate whose `[lib]` has
/// `crate-type = ["cdylib"]`; built for any other target it is nothing, so that the crate's own tests run natively.
///
/// The crate depends on `toolwarden-policy` with `default-features = false`, or the default module is exported beside yours,
/// which does not link.
#[macro_export]
macro_rules! export {
    ($module:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            static SLOT: $crate::face::Slot<$module> = $crate::face::Slot::new();

            struct Face;

            impl $crate::face::Exported for Face {
                type Module = $module;

                fn slot() -> &'static $crate::face::Slot<$module> {
                    &SLOT
                }
            }

    $crate::component::export!(Face with_types_in $crate::component);
        };
    };
}
