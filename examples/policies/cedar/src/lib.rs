//! Cedar policies as a policy module.
//!
//! The text of the policies is a setting, `module.settings.policies`. Each call becomes a Cedar request, and what Cedar says
//! stands beside the default decisions: the stricter of the two answers wins, so a policy can tighten what the other settings
//! say and never loosen it. README.md has the mapping.

#![deny(missing_docs)]

mod policies;
mod request;
mod verdict;

use toolwarden_policy::{Gate, Invocation, Issue, PolicyModule, Settings, is_approval_gated};

use policies::Policies;

/// The module under settings.
pub struct Cedar {
    base: Settings,
    policies: Policies,
}

impl PolicyModule for Cedar {
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const SUMMARY: &'static str = env!("CARGO_PKG_DESCRIPTION");
    const SCHEMA: &'static str = r#"{
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["module"],
        "properties": {
            "module": {
                "type": "object",
                "required": ["settings"],
                "properties": {
                    "settings": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["policies"],
                        "properties": {
                            "policies": { "type": "string", "description": "Cedar policies" },
                            "entities": { "type": "array", "description": "entities, in Cedar's JSON format" }
                        }
                    }
                }
            }
        }
    }"#;

    fn configure(settings: &str) -> Result<Self, Vec<Issue>> {
        let (base, policies) = Settings::with_own(settings, Policies::read)?;
        // None only where an issue was noted, and then the settings were rejected just before.
        let policies = policies.ok_or_else(Vec::new)?;
        Ok(Self { base, policies })
    }

    fn base(&self) -> &Settings {
        &self.base
    }

    fn is_approval_gated(&self, call: &Invocation) -> Gate {
        let usual = is_approval_gated(&self.base, call);
        // Policies see the class of the cwd that the default decisions found.
        let cedar = verdict::gate(&self.policies, call, usual.cwd);
        usual.stricter(cedar)
    }
}

toolwarden_policy::export!(Cedar);
