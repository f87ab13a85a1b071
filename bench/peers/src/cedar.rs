//! Cedar: one policy set, no entities, no schema; everything that the rules read is in the request's context.

use std::collections::HashMap;
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};
use cedar_policy::{
    Authorizer, Context, Decision, Entities, EntityId, EntityTypeName, EntityUid, PolicyId, PolicySet, Request,
    RestrictedExpression,
};
use serde_json::Value;

use crate::call::Verdict;
use crate::peer::Peer;

/// The loaded policy, and the names that are the same in every request, which a host parses once.
pub struct Cedar {
    authorizer: Authorizer,
    policies: PolicySet,
    entities: Entities,
    principal: EntityUid,
    action: EntityUid,
    tool_type: EntityTypeName,
    /// The verdict of each `forbid`, read from its annotation once.
    verdicts: HashMap<PolicyId, Verdict>,
}

impl Peer for Cedar {
    type Request = Request;

    const NAME: &'static str = "cedar";
    const CRATE: &'static str = "cedar-policy";

    fn load() -> Result<Self> {
        let policies = PolicySet::from_str(include_str!("policy.cedar"))?;
        let mut verdicts = HashMap::new();
        for policy in policies.policies() {
            if let Some(name) = policy.annotation("verdict") {
                let verdict = Verdict::parse(name).with_context(|| format!("unknown verdict `{name}`"))?;
                verdicts.insert(policy.id().clone(), verdict);
            }
        }
        Ok(Self {
            authorizer: Authorizer::new(),
            policies,
            entities: Entities::empty(),
            principal: r#"Agent::"main""#.parse()?,
            action: r#"Action::"call""#.parse()?,
            tool_type: "Tool".parse()?,
            verdicts,
        })
    }

    fn parse(&self, text: &str) -> Result<Request> {
        let call: HashMap<String, Value> = serde_json::from_str(text)?;
        let tool = call.get("tool").and_then(Value::as_str).context("a call without a tool")?;
        let resource = EntityUid::from_type_name_and_id(self.tool_type.clone(), EntityId::new(tool));
        let pairs = call.into_iter().map(|(name, value)| Ok((name, expression(value)?)));
        let context = Context::from_pairs(pairs.collect::<Result<Vec<_>>>()?)?;
        Ok(Request::new(self.principal.clone(), self.action.clone(), resource, context, None)?)
    }

    fn decide(&mut self, request: &Request) -> Result<Verdict> {
        let response = self.authorizer.is_authorized(request, &self.policies, &self.entities);
        // Cedar leaves out a rule that it cannot evaluate, which would be a shorter policy than the measured one.
        if let Some(error) = response.diagnostics().errors().next() {
            bail!("{error}");
        }
        if response.decision() == Decision::Allow {
            return Ok(Verdict::Free);
        }
        let strictest = response.diagnostics().reason().filter_map(|id| self.verdicts.get(id)).max();
        strictest.copied().context("denied without a reason")
    }
}

/// An attribute's value. `Context::from_json_str` would do this too, but takes several times as long over it.
fn expression(value: Value) -> Result<RestrictedExpression> {
    match value {
        Value::Bool(value) => Ok(RestrictedExpression::new_bool(value)),
        Value::String(value) => Ok(RestrictedExpression::new_string(value)),
        Value::Number(value) => {
            let value = value.as_i64().with_context(|| format!("`{value}` is not a whole number of 64 bits"))?;
            Ok(RestrictedExpression::new_long(value))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => bail!("`{value}` is not an attribute of a call"),
    }
}
