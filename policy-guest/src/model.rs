//! Facts in, answers out: the contract's records as plain Rust. `wit/policy.wit` says what each of them means.
//!
//! Inputs borrow; each face (component, core module, native test) lends its own strings.

use std::borrow::Cow;
use std::string::String;
use std::vec::Vec;

/// Declares enums of the contract together with their words, which every face spells alike.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($case:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each case is documented in wit/policy.wit")]
        pub enum $name { $($case),+ }

        impl $name {
            /// All cases, the strictest first.
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            /// The case as the contract spells it.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$case => $word),+ }
            }

            /// The case that the contract spells so.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$case),)+ _ => None }
            }
        }
    )+};
}

words! {
    /// Whether a person sits in front of the agent.
    Attendance { Scheduled = "scheduled", Delegated = "delegated", Remote = "remote", Interactive = "interactive" }
    /// How the model addressed the tool.
    Route { Bridge = "bridge", Direct = "direct" }
    /// Where a tool comes from.
    Origin { Unknown = "unknown", Mcp = "mcp", Plugin = "plugin", Core = "core", Bridge = "bridge" }
    /// Whether the registry holds the tool.
    Registration { Unregistered = "unregistered", Registered = "registered" }
    /// Type of a JSON value.
    JsonKind {
        Absent = "absent", Null = "null", Boolean = "boolean", Number = "number", Text = "text", Array = "array",
        Object = "object",
    }
    /// Whose rules a path follows.
    Flavour { Windows = "windows", Posix = "posix" }
    /// What became of resolving a path.
    Resolution { Failed = "failed", NotAttempted = "not-attempted", Resolved = "resolved" }
    /// How a definition compares with its baseline.
    Trust {
        SnapshotUnavailable = "snapshot-unavailable", BaselineMissing = "baseline-missing",
        BaselineMalformed = "baseline-malformed", FingerprintInvalid = "fingerprint-invalid",
        DuplicateTools = "duplicate-tools", DefinitionDrift = "definition-drift", ProbeFailed = "probe-failed",
        SplitView = "split-view", Matching = "matching",
    }
    /// What a rule did.
    StepOutcome { Decided = "decided", PassedOver = "passed-over" }
    /// Where a cwd lies, the worst first.
    CwdClass {
        Invalid = "invalid", Outside = "outside", Skill = "skill", Inside = "inside", NotApplicable = "not-applicable",
    }
    /// Why a cwd is invalid or outside.
    CwdWhy {
        None = "none", NoRoot = "no-root", NotAString = "not-a-string", Nul = "nul", UnknownScheme = "unknown-scheme",
        BadCharacter = "bad-character", Stream = "stream", TrailingDotOrSpace = "trailing-dot-or-space",
        DeviceName = "device-name", UnnamedSkill = "unnamed-skill", SkillEscape = "skill-escape", Device = "device",
        Unc = "unc", Home = "home", Expansion = "expansion", FileUrl = "file-url", DriveRelative = "drive-relative",
        DriveRoot = "drive-root", ParentEscape = "parent-escape", Absolute = "absolute", Link = "link",
    }
    /// What a call comes to.
    Effect { Refused = "refused", Gated = "gated", Free = "free" }
    /// Whether a tool counts towards the deferral budget.
    Candidacy { Candidate = "candidate", Exempt = "exempt" }
    /// Whether the bridge tools are all there and permitted.
    BridgeState { Incomplete = "incomplete", Complete = "complete" }
    /// What the model is shown of a tool.
    Exposure { Hidden = "hidden", Deferred = "deferred", Eager = "eager" }
}

/// Which tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolRef<'a> {
    /// Where it comes from.
    pub origin: Origin,
    /// Whether the registry holds it.
    pub registration: Registration,
    /// MCP server or plugin; empty for core and bridge tools.
    pub server: &'a str,
    /// Raw name.
    pub name: &'a str,
    /// Name that the model sees.
    pub public_name: &'a str,
}

impl<'a> ToolRef<'a> {
    /// A registered tool of the agent's own.
    #[must_use]
    pub const fn core(name: &'a str) -> Self {
        Self { origin: Origin::Core, registration: Registration::Registered, server: "", name, public_name: name }
    }

    /// Whether the tool is the agent's own of that name. A server may call a tool of its own `Bash`, so a name alone says
    /// nothing; a tool of which the host does not know where it is from gets the stricter reading.
    #[must_use]
    pub fn is_built_in(&self, name: &str) -> bool {
        matches!(self.origin, Origin::Core | Origin::Unknown) && self.name == name
    }
}

/// One member of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument<'a> {
    /// The member's name.
    pub name: &'a str,
    /// Type of its value.
    pub kind: JsonKind,
    /// The characters of a string, the compact JSON of anything else.
    pub text: &'a str,
}

impl<'a> Argument<'a> {
    /// An argument that is a string.
    #[must_use]
    pub const fn text(name: &'a str, text: &'a str) -> Self {
        Self { name, kind: JsonKind::Text, text }
    }
}

/// Where the agent works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace<'a> {
    /// Whose rules the paths follow.
    pub flavour: Flavour,
    /// The root that a relative cwd starts from.
    pub root: &'a str,
    /// Further roots.
    pub extra_roots: Vec<&'a str>,
    /// Folders whose subfolders are skills.
    pub skills_roots: Vec<&'a str>,
    /// The person's home folder.
    pub home: &'a str,
}

impl<'a> Workspace<'a> {
    /// A folder with POSIX paths, and no other roots.
    #[must_use]
    pub const fn posix(root: &'a str) -> Self {
        Self { flavour: Flavour::Posix, root, extra_roots: Vec::new(), skills_roots: Vec::new(), home: "" }
    }
}

/// What the host found out about the cwd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CwdFacts<'a> {
    /// What became of resolving it.
    pub resolution: Resolution,
    /// Real paths, one a reading.
    pub paths: Vec<&'a str>,
    /// Real paths of the roots.
    pub roots: Vec<&'a str>,
    /// Real paths of the skills roots.
    pub skills_roots: Vec<&'a str>,
}

impl CwdFacts<'_> {
    /// The host did not look.
    #[must_use]
    pub const fn not_attempted() -> Self {
        Self { resolution: Resolution::NotAttempted, paths: Vec::new(), roots: Vec::new(), skills_roots: Vec::new() }
    }
}

/// What the host found out about a path argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathFact<'a> {
    /// JSON pointer into the arguments.
    pub argument: &'a str,
    /// What became of resolving it.
    pub resolution: Resolution,
    /// Real path.
    pub path: &'a str,
}

/// All that the host found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// About the cwd.
    pub cwd: CwdFacts<'a>,
    /// About path arguments.
    pub paths: Vec<PathFact<'a>>,
    /// How the definition compares with its baseline.
    pub trust: Trust,
    /// What differs, in one line.
    pub trust_summary: &'a str,
    /// The registered name closest to an unregistered one.
    pub nearest: &'a str,
}

impl Facts<'_> {
    /// The host did not look, and there is no baseline to compare with.
    #[must_use]
    pub const fn not_attempted() -> Self {
        Self {
            cwd: CwdFacts::not_attempted(),
            paths: Vec::new(),
            trust: Trust::SnapshotUnavailable,
            trust_summary: "",
            nearest: "",
        }
    }
}

/// A call with all its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation<'a> {
    /// The effective tool.
    pub tool: ToolRef<'a>,
    /// Top-level arguments.
    pub arguments: Vec<Argument<'a>>,
    /// How the tool was addressed.
    pub route: Route,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// Where the agent works.
    pub workspace: Workspace<'a>,
    /// What the host found out.
    pub facts: Facts<'a>,
    /// Whether to keep the rule trail.
    pub explain: bool,
}

impl<'a> Invocation<'a> {
    /// The argument of that name; of kind `absent` where the call has none.
    #[must_use]
    pub fn argument(&self, name: &'a str) -> Argument<'a> {
        let absent = Argument { name, kind: JsonKind::Absent, text: "" };
        self.arguments.iter().find(|a| a.name == name).copied().unwrap_or(absent)
    }
}

/// One rule that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Stable name of the rule.
    pub rule: Cow<'static, str>,
    /// What it did.
    pub outcome: StepOutcome,
    /// Why, in words.
    pub note: String,
}

/// Where a cwd lies, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CwdJudgement {
    /// The class.
    pub class: CwdClass,
    /// Why.
    pub why: CwdWhy,
}

impl CwdJudgement {
    /// In the workspace.
    pub const INSIDE: Self = Self { class: CwdClass::Inside, why: CwdWhy::None };
    /// In a skill's folder.
    pub const SKILL: Self = Self { class: CwdClass::Skill, why: CwdWhy::None };
    /// The call has no cwd.
    pub const NOT_APPLICABLE: Self = Self { class: CwdClass::NotApplicable, why: CwdWhy::None };

    /// Outside every root.
    #[must_use]
    pub const fn outside(why: CwdWhy) -> Self {
        Self { class: CwdClass::Outside, why }
    }

    /// Not a path.
    #[must_use]
    pub const fn invalid(why: CwdWhy) -> Self {
        Self { class: CwdClass::Invalid, why }
    }

    /// Whether the cwd leaves the workspace, or may.
    #[must_use]
    pub const fn escapes(self) -> bool {
        matches!(self.class, CwdClass::Invalid | CwdClass::Outside)
    }
}

/// What a call comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// What it comes to.
    pub effect: Effect,
    /// Reason code; empty when free.
    pub kind: Cow<'static, str>,
    /// One sentence.
    pub reason: Cow<'static, str>,
    /// The real target, safe to show.
    pub detail: String,
    /// Where the cwd lies.
    pub cwd: CwdJudgement,
    /// The rules looked at.
    pub trail: Vec<Step>,
}

/// A tool as the registry knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolDefinition<'a> {
    /// Which tool.
    pub tool: ToolRef<'a>,
    /// How its definition compares with the baseline.
    pub trust: Trust,
    /// Estimated tokens.
    pub tokens: u32,
    /// Compact JSON.
    pub definition: &'a str,
}

/// The gate at registry build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// `Refused` or `Free`.
    pub effect: Effect,
    /// Reason code when refused.
    pub kind: Cow<'static, str>,
    /// One sentence when refused.
    pub reason: Cow<'static, str>,
    /// Whether its tokens count towards the budget.
    pub candidacy: Candidacy,
}

/// Sums over the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The bridge tools.
    pub bridge: BridgeState,
    /// Number of candidates.
    pub candidates: u32,
    /// Their tokens.
    pub candidate_tokens: u64,
    /// The model's context window in tokens; 0 when not known.
    pub context_window: u64,
}

/// What the model is shown of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferral {
    /// What it is shown.
    pub exposure: Exposure,
    /// Reason code.
    pub reason: Cow<'static, str>,
}
