//! A policy module of bad habits. The settings choose one: `{"module":{"settings":{"habit":"endless-loop"}}}`. Without a habit
//! it allows everything, so that whatever a test sees denied was denied for the habit.

// The functions mean something inside a WebAssembly instance only; anywhere else there is nothing to build.
#![cfg(target_arch = "wasm32")]

use std::cell::Cell;
use std::hint::black_box;

#[allow(missing_docs, unsafe_code, clippy::all, clippy::pedantic, reason = "generated bindings")]
mod bindings {
    wit_bindgen::generate!({ path: "../../../wit", world: "policy", runtime_path: "wit_bindgen::rt" });
}

use bindings::exports::toolwarden::policy::decisions as wit;

/// Declares the habits and their words, once.
macro_rules! habits {
    ($($(#[$doc:meta])* $habit:ident = $word:literal,)+) => {
        /// What the module does wrong. Where nothing else is said, it does so in `is-approval-gated`.
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Habit {
            /// Nothing.
            Good,
            $($(#[$doc])* $habit,)+
        }

        impl Habit {
            /// None where the word is no habit.
            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$habit),)+
                    _ => None,
                }
            }
        }
    };
}

habits! {
    /// Never answers.
    EndlessLoop = "endless-loop",
    /// Asks for memory, a mebibyte at a time, until there is no more.
    MemoryHog = "memory-hog",
    /// Allocates ever larger pieces until the allocator gives up.
    Hungry = "hungry",
    /// Panics.
    Panic = "panic",
    /// Calls itself without end.
    DeepRecursion = "deep-recursion",
    /// Answers with a detail of 12 MB.
    HugeAnswer = "huge-answer",
    /// Answers with a trail of 200 000 steps.
    ManySteps = "many-steps",
    /// Answers with text that is not UTF-8.
    BadUtf8 = "bad-utf8",
    /// Answers with an effect that the contract does not know.
    BadEnum = "bad-enum",
    /// Answers free, and yet with a reason code.
    FreeWithKind = "free-with-kind",
    /// Answers gated, and no reason code.
    GatedWithoutKind = "gated-without-kind",
    /// Answers with a reason code that is not one.
    BadKind = "bad-kind",
    /// Answers with text that shows as something else.
    BidiDetail = "bidi-detail",
    /// Answers about one tool too few, in `admit-tools` and `should-defer-all`.
    WrongCount = "wrong-count",
    /// Hides every tool, in `should-defer` and `should-defer-all`.
    HidesEverything = "hides-everything",
    /// Panics in `configure`.
    TrapsOnConfigure = "traps-on-configure",
    /// Rejects the settings, in `configure`.
    RejectsSettings = "rejects-settings",
    /// Accepts the settings and has an issue with them, in `configure`.
    AcceptsWithIssues = "accepts-with-issues",
    /// Answers free once an instance, then panics.
    SecondCallPanics = "second-call-panics",
    /// Answers free once an instance, then gated: the same input gets two answers.
    Stateful = "stateful",
    /// Never answers, in `admit-tools`.
    LoopsOnBuild = "loops-on-build",
    /// Says that there is no cwd when asked about one, in `classify-cwd`.
    CwdNotApplicable = "cwd-not-applicable",
    /// Says that every cwd is inside, in `classify-cwd`.
    EverythingInside = "everything-inside",
    /// Gives another class every second time, in `classify-cwd`.
    Undecided = "undecided",
    /// Panics when the call's first argument is `panic`: good in every test, and then not.
    PanicsWhenTold = "panics-when-told",
    /// Asks about everything.
    AsksAlways = "asks-always",
    /// Answers well, and keeps 256 KiB of each call.
    Leaks = "leaks",
}

thread_local! {
    /// The habit that the settings chose.
    static HABIT: Cell<Habit> = const { Cell::new(Habit::Good) };
    /// How often this instance was asked what a call comes to.
    static CALLS: Cell<u32> = const { Cell::new(0) };
    /// How often this instance was asked where a cwd lies.
    static CLASSES: Cell<u32> = const { Cell::new(0) };
}

fn has(habit: Habit) -> bool {
    HABIT.get() == habit
}

struct Component;

bindings::export!(Component with_types_in bindings);

impl wit::Guest for Component {
    fn describe() -> wit::Description {
        wit::Description {
            name: "toolwarden-habits".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            contract: if cfg!(feature = "wrong-contract") { "9.9.9" } else { "0.1.0" }.into(),
            summary: "Does what a policy module must not do.".into(),
            settings_schema: r#"{"type":"object"}"#.into(),
        }
    }

    fn configure(settings: String) -> wit::Configuration {
        let word = chosen(&settings);
        let Some(habit) = word.map_or(Some(Habit::Good), Habit::from_word) else {
            // A misspelt habit must not pass for good behaviour.
            return configuration(wit::ConfigurationOutcome::Rejected, Some("no such habit"));
        };
        HABIT.set(habit);
        match habit {
            Habit::TrapsOnConfigure => panic!("a bad habit"),
            Habit::RejectsSettings => configuration(wit::ConfigurationOutcome::Rejected, Some("rejected by habit")),
            Habit::AcceptsWithIssues => configuration(wit::ConfigurationOutcome::Accepted, Some("accepted by habit")),
            _ => configuration(wit::ConfigurationOutcome::Accepted, None),
        }
    }

    fn admit_tools(tools: Vec<wit::ToolDefinition>) -> Vec<wit::Admission> {
        if has(Habit::LoopsOnBuild) {
            forever();
        }
        let admission = || wit::Admission {
            effect: wit::Effect::Free,
            kind: String::new(),
            reason: String::new(),
            candidacy: wit::Candidacy::Exempt,
        };
        (0..answers(&tools)).map(|_| admission()).collect()
    }

    fn should_defer(_tool: wit::ToolDefinition, _totals: wit::CatalogueTotals) -> wit::Deferral {
        deferral()
    }

    fn should_defer_all(tools: Vec<wit::ToolDefinition>, _totals: wit::CatalogueTotals) -> Vec<wit::Deferral> {
        (0..answers(&tools)).map(|_| deferral()).collect()
    }

    fn is_approval_gated(invocation: wit::Invocation) -> wit::Gate {
        let first = CALLS.replace(CALLS.get().saturating_add(1)) == 0;
        match HABIT.get() {
            Habit::EndlessLoop => forever(),
            Habit::MemoryHog => grow(),
            Habit::Hungry => allocate(),
            Habit::Panic => panic!("a bad habit"),
            Habit::DeepRecursion => recurse(),
            Habit::HugeAnswer => wit::Gate { detail: "x".repeat(12_000_000), ..free() },
            Habit::ManySteps => wit::Gate { trail: many_steps(), ..free() },
            Habit::BadUtf8 => wit::Gate { reason: not_utf8(), ..gated("odd") },
            Habit::BadEnum => wit::Gate { effect: not_an_effect(), ..free() },
            Habit::FreeWithKind => wit::Gate { kind: "odd".into(), ..free() },
            Habit::GatedWithoutKind => gated(""),
            Habit::BadKind => gated("Not A Code!"),
            Habit::BidiDetail => wit::Gate { reason: deceiving(), detail: deceiving(), ..gated("odd") },
            Habit::SecondCallPanics if !first => panic!("a bad habit, from the second call on"),
            Habit::Stateful if !first => gated("second"),
            Habit::AsksAlways => gated("habit"),
            Habit::Leaks => {
                std::mem::forget(black_box(vec![1_u8; 256 * 1024]));
                free()
            }
            Habit::PanicsWhenTold if is_told(&invocation) => panic!("a bad habit, on demand"),
            _ => free(),
        }
    }

    fn classify_cwd(
        _given: wit::Argument,
        _workspace: wit::Workspace,
        _facts: wit::CwdFacts,
        _explain: bool,
    ) -> wit::CwdAnswer {
        let odd = CLASSES.replace(CLASSES.get().wrapping_add(1)) % 2 == 1;
        let (class, why) = match HABIT.get() {
            Habit::CwdNotApplicable => (wit::CwdClass::NotApplicable, wit::CwdWhy::None),
            Habit::EverythingInside => (wit::CwdClass::Inside, wit::CwdWhy::None),
            Habit::Undecided if odd => (wit::CwdClass::Invalid, wit::CwdWhy::Stream),
            // The strictest, which is good for every cwd.
            _ => (wit::CwdClass::Invalid, wit::CwdWhy::NotAString),
        };
        wit::CwdAnswer { class, why, trail: Vec::new() }
    }
}

// ---------------------------------------------------------------- good answers

/// The word after `"habit":`. The host writes compact JSON and no habit's word holds an escape; a parser would be most of the
/// module.
fn chosen(settings: &str) -> Option<&str> {
    let (_, rest) = settings.split_once(r#""habit":""#)?;
    rest.split_once('"').map(|(word, _)| word)
}

fn configuration(outcome: wit::ConfigurationOutcome, problem: Option<&str>) -> wit::Configuration {
    let issue = |problem: &str| wit::Issue {
        pointer: "/module/settings/habit".into(),
        problem: problem.into(),
        allowed: "another habit".into(),
    };
    wit::Configuration { outcome, issues: problem.map(issue).into_iter().collect() }
}

/// How many answers to give about tools.
fn answers(tools: &[wit::ToolDefinition]) -> usize {
    if has(Habit::WrongCount) { tools.len().saturating_sub(1) } else { tools.len() }
}

fn deferral() -> wit::Deferral {
    if has(Habit::HidesEverything) {
        wit::Deferral { exposure: wit::Exposure::Hidden, reason: "hidden".into() }
    } else {
        wit::Deferral { exposure: wit::Exposure::Eager, reason: "always".into() }
    }
}

fn free() -> wit::Gate {
    wit::Gate {
        effect: wit::Effect::Free,
        kind: String::new(),
        reason: "allowed".into(),
        detail: String::new(),
        cwd: wit::CwdJudgement { class: wit::CwdClass::Inside, why: wit::CwdWhy::None },
        trail: Vec::new(),
    }
}

fn gated(kind: &str) -> wit::Gate {
    wit::Gate { effect: wit::Effect::Gated, kind: kind.into(), reason: "gated by habit".into(), ..free() }
}

fn is_told(invocation: &wit::Invocation) -> bool {
    invocation.arguments.first().is_some_and(|argument| argument.text == "panic")
}

// ---------------------------------------------------------------- bad ones

/// The box keeps the loop from being empty, which some optimisers take for one that ends.
fn forever() -> ! {
    loop {
        black_box(());
    }
}

/// Goes past the allocator, which would abort at the first refusal: here the module sees it and traps by itself.
fn grow() -> ! {
    /// Pages of 64 KiB at a time.
    const PAGES: usize = 16;
    while core::arch::wasm32::memory_grow(0, PAGES) != usize::MAX {}
    core::arch::wasm32::unreachable()
}

/// Pieces are kept, and boxed so that the allocations are not optimised away.
fn allocate() -> ! {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let mut size = 64 << 10;
    loop {
        pieces.push(Vec::with_capacity(size));
        black_box(&pieces);
        size += size / 2;
    }
}

/// What a level of the recursion calls next. Read from memory, it cannot be known to be the level itself, so the recursion
/// cannot become a loop.
struct Below(fn(&Self, u32) -> u32);

/// Keeps nothing in linear memory: what overflows is the stack of the WebAssembly engine, not the small one of the module,
/// which would trap as an access out of bounds.
fn recurse() -> wit::Gate {
    fn level(below: &Below, depth: u32) -> u32 {
        // There is work left after the call, so it is no tail call.
        (below.0)(below, depth.wrapping_add(1)).rotate_left(1) ^ depth
    }
    black_box(level(black_box(&Below(level)), 0));
    free()
}

/// Empty text needs no allocation: the steps are too many, and yet neither slow nor large for the module itself.
fn many_steps() -> Vec<wit::Step> {
    let step = || wit::Step { rule: String::new(), outcome: wit::StepOutcome::PassedOver, note: String::new() };
    (0..200_000).map(|_| step()).collect()
}

fn not_utf8() -> String {
    // SAFETY: none, on purpose: a module in another language does not know what Rust promises of a string. The text is only
    // moved to the answer, where its bytes are copied as they are.
    unsafe { String::from_utf8_unchecked(vec![b'o', 0xff, 0xfe, b'k']) }
}

fn not_an_effect() -> wit::Effect {
    // SAFETY: none, on purpose: 7 is no case of the enum. The box hides it from the optimiser, nothing here branches on it,
    // and the bindings copy it to the answer as the byte that it is.
    unsafe { std::mem::transmute::<u8, wit::Effect>(black_box(7)) }
}

/// A right-to-left override that makes a program look like a page, and a newline that would start a line of its own.
fn deceiving() -> String {
    "open page\u{202e}lmth.exe\nallowed".into()
}
