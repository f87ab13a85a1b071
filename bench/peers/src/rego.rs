//! regorus, both ways: its interpreter, and its virtual machine with the policy compiled before.

use anyhow::{Context as _, Result, anyhow};
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::vm::RegoVM;
use regorus::{Engine, Value};

use crate::call::Verdict;
use crate::peer::Peer;

const ENTRY: &str = "data.toolwarden.verdict";

/// The engine that is kept between calls and interprets the syntax tree.
pub struct Interpreter(Engine);

impl Peer for Interpreter {
    type Request = Value;

    const NAME: &'static str = "regorus";
    const CRATE: &'static str = "regorus";

    fn load() -> Result<Self> {
        Ok(Self(engine()?))
    }

    fn parse(&self, text: &str) -> Result<Value> {
        Value::from_json_str(text)
    }

    fn decide(&mut self, request: &Value) -> Result<Verdict> {
        self.0.set_input(request.clone());
        verdict(&self.0.eval_rule(ENTRY.to_owned())?)
    }
}

/// The virtual machine that is kept between calls and runs a compiled program.
pub struct Machine(RegoVM);

impl Peer for Machine {
    type Request = Value;

    const NAME: &'static str = "regorus-rvm";
    const CRATE: &'static str = "regorus";

    fn load() -> Result<Self> {
        let policy = engine()?.compile_with_entrypoint(&ENTRY.into())?;
        let program = Compiler::compile_from_policy(&policy, &[ENTRY]).map_err(|error| anyhow!("{error}"))?;
        let mut vm = RegoVM::new();
        vm.load_program(program);
        Ok(Self(vm))
    }

    fn parse(&self, text: &str) -> Result<Value> {
        Value::from_json_str(text)
    }

    fn decide(&mut self, request: &Value) -> Result<Verdict> {
        self.0.set_input(request.clone());
        verdict(&self.0.execute().map_err(|error| anyhow!("{error}"))?)
    }
}

fn engine() -> Result<Engine> {
    let mut engine = Engine::new();
    engine.add_policy("policy.rego".to_owned(), include_str!("policy.rego").to_owned())?;
    Ok(engine)
}

fn verdict(value: &Value) -> Result<Verdict> {
    let name = value.as_string()?;
    Verdict::parse(name).with_context(|| format!("unknown verdict `{name}`"))
}
