//! temp
use std::sync::Arc;
use toolwarden::call::*;
use toolwarden::module::*;
use toolwarden::registry::*;
use toolwarden::settings::Settings;
fn main() {
    let mut settings = Settings::default();
    settings.make_dangerous();
    let per = std::env::args().nth(1).as_deref() == Some("fresh");
    let limits = Limits { isolation: if per { Isolation::PerCall } else { Isolation::Pooled }, ..Limits::default() };
    let c = Arc::new(Component::embedded(limits).unwrap());
    let m = PolicyModule::new(c, &settings.policy_json()).unwrap();
    let registry = Registry::build(&m, Catalogue::builtin(), 0, Generation(1)).unwrap();
    let call = Call::from_json(br#"{"id":"c","tool":"Bash","arguments":{"command":"cargo test","cwd":"crates/core","timeout_ms":120000},"route":"direct","attendance":"interactive","workspace":{"root":"/home/ann/project","flavour":"posix","home":"/home/ann","skills":["/home/ann/.agent/skills"]}}"#).unwrap();
    let (tool, _) = registry.resolve(None, "Bash");
    let facts = Facts {
        cwd: CwdFacts {
            resolution: Resolution::Resolved,
            paths: vec!["/home/ann/project/crates/core".into()],
            roots: vec!["/home/ann/project".into()],
            skills_roots: vec![],
        },
        paths: vec![],
        trust: DefinitionTrust::Matching,
        trust_summary: String::new(),
        nearest: String::new(),
    };
    let q = Question {
        tool: &tool,
        registered: true,
        call_arguments: &call.arguments,
        route: call.route,
        attendance: call.attendance,
        workspace: &call.workspace,
        facts: &facts,
        explain: false,
    };
    let n = if per { 100_000 } else { 500_000 };
    for _ in 0..3 {
        let t = std::time::Instant::now();
        for _ in 0..n {
            std::hint::black_box(m.is_approval_gated(&q).unwrap());
        }
        println!("{} ns", t.elapsed().as_nanos() / n);
    }
}
