//! A call as a Cedar request.

use std::collections::HashSet;
use std::error::Error;

use cedar_policy::{
    Context, Entities, Entity, EntityId, EntityTypeName, EntityUid, Request, RestrictedExpression as Value,
};
use toolwarden_policy::{Argument, CwdJudgement, Invocation, JsonKind};

use crate::policies::Policies;

/// The request, and the entities that it is asked over: the person's own, and the tool.
pub fn request(
    policies: &Policies,
    call: &Invocation,
    cwd: CwdJudgement,
) -> Result<(Request, Entities), Box<dyn Error>> {
    let tool = uid(&policies.tool, call.tool.public_name);
    let request = Request::new(
        uid(&policies.attendance, call.attendance.word()),
        uid(&policies.action, "call"),
        tool.clone(),
        context(call, cwd)?,
        None,
    )?;
    let entities = entities(policies, call, tool)?;
    Ok((request, entities))
}

fn uid(of: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(of.clone(), EntityId::new(id))
}

fn entities(policies: &Policies, call: &Invocation, uid: EntityUid) -> Result<Entities, Box<dyn Error>> {
    let own = [
        ("server".to_owned(), text(call.tool.server)),
        ("name".to_owned(), text(call.tool.name)),
        ("origin".to_owned(), text(call.tool.origin.word())),
    ];
    // A tool that the settings describe keeps what they say, its groups above all; who it is is the host's word.
    match policies.entities.get(&uid).cloned() {
        None => {
            let tool = Entity::new(uid, own.into_iter().collect(), HashSet::new())?;
            if policies.entities.is_empty() {
                return Ok(Entities::from_entities([tool], None)?);
            }
            Ok(policies.entities.clone().add_entities([tool], None)?)
        }
        Some(tool) => {
            let (uid, mut attributes, parents) = tool.into_inner();
            attributes.extend(own);
            let tool = Entity::new(uid, attributes, parents)?;
            Ok(policies.entities.clone().upsert_entities([tool], None)?)
        }
    }
}

fn context(call: &Invocation, cwd: CwdJudgement) -> Result<Context, Box<dyn Error>> {
    let arguments = call.arguments.iter().filter(|a| a.kind != JsonKind::Absent);
    let arguments = Value::new_record(arguments.map(|a| (a.name.to_owned(), argument(*a))))?;
    let cwd = [("class", cwd.class.word()), ("why", cwd.why.word())];
    let cwd = Value::new_record(cwd.map(|(name, word)| (name.to_owned(), text(word))))?;
    Ok(Context::from_pairs([
        ("arguments".to_owned(), arguments),
        ("route".to_owned(), text(call.route.word())),
        ("cwd".to_owned(), cwd),
        ("trust".to_owned(), text(call.facts.trust.word())),
    ])?)
}

/// Strings, whole numbers and booleans as what they are; everything else as its JSON text, since Cedar has no `null`, no
/// fractions, and no lists of mixed types.
fn argument(argument: Argument) -> Value {
    match (argument.kind, argument.text.parse(), argument.text) {
        (JsonKind::Number, Ok(number), _) => Value::new_long(number),
        (JsonKind::Boolean, _, "true") => Value::new_bool(true),
        (JsonKind::Boolean, _, "false") => Value::new_bool(false),
        (_, _, other) => text(other),
    }
}

fn text(text: &str) -> Value {
    Value::new_string(text.to_owned())
}
