"""A Toolwarden policy in Python: a deny list, an ask list, and words that make a shell command worth a question.

Toolwarden calls the methods of `Decisions`; `wit/policy.wit` says what goes in and out. Names with dashes are written with
underscores here, and a field named `class` is `class_`.

The module may keep nothing from one call to the next but its settings: the host uses instances again, throws them away and
runs several side by side, and all of them have to give the same answers.
"""

import json
from collections.abc import Callable

from wit_world import exports
from wit_world.exports.decisions import (
    Admission,
    Argument,
    BridgeState,
    Candidacy,
    CatalogueTotals,
    Configuration,
    ConfigurationOutcome,
    CwdAnswer,
    CwdClass,
    CwdFacts,
    CwdJudgement,
    CwdWhy,
    Deferral,
    Description,
    Effect,
    Exposure,
    Gate,
    Invocation,
    JsonKind,
    Origin,
    Registration,
    Step,
    StepOutcome,
    ToolDefinition,
    ToolRef,
    Workspace,
)

from cwd import judge
from settings import SCHEMA, Settings, read
from text import clip, matches_any, name_of, word_in

#: The settings in force. Until there are some, every call is refused.
settings: Settings | None = None

#: `ManagedProcess` uses its cwd to start a process. An action that nobody knows might start one, too.
IDLE_ACTIONS = ("status", "read_log", "wait", "stop")

#: What the tools of servers may take of the model's context before they are shown on demand only.
TOKEN_BUDGET = 12_000

#: An effect, its reason and its detail.
Found = tuple[Effect, str, str] | None


def is_foreign(tool: ToolRef) -> bool:
    return tool.origin in (Origin.MCP, Origin.PLUGIN)


def is_denied(tool: ToolRef) -> bool:
    return settings is None or matches_any(settings.deny, tool.public_name)


def text_of(call: Invocation, name: str) -> str | None:
    return next((a.text for a in call.arguments if a.name == name and a.kind == JsonKind.TEXT), None)


def starts_process(call: Invocation) -> bool:
    """Whether the call starts a process in its cwd. Only the agent's own tools do."""
    if is_foreign(call.tool):
        return False
    if call.tool.name == "Bash":
        return True
    return call.tool.name == "ManagedProcess" and text_of(call, "action") not in IDLE_ACTIONS


def cwd_of(call: Invocation) -> Argument:
    """The cwd of a call as `classify_cwd` wants it: `absent` where the call holds none."""
    absent = Argument("cwd", JsonKind.ABSENT, "")
    return next((a for a in call.arguments if a.name == "cwd"), absent)


# The rules. Each looks at a call and gives nothing where it does not apply.


def not_configured(_call: Invocation, _cwd: CwdJudgement) -> Found:
    return (Effect.REFUSED, "the policy module has not been given settings", "") if settings is None else None


def rule_deny(call: Invocation, _cwd: CwdJudgement) -> Found:
    found = (Effect.REFUSED, "the deny list names this tool", call.tool.public_name)
    return found if is_denied(call.tool) else None


def unknown_tool(call: Invocation, _cwd: CwdJudgement) -> Found:
    if call.tool.registration == Registration.REGISTERED:
        return None
    hint = f"; did you mean {call.facts.nearest}?" if call.facts.nearest else ""
    return (Effect.REFUSED, f"there is no tool of exactly this name{hint}", call.tool.public_name)


def rule_ask(call: Invocation, _cwd: CwdJudgement) -> Found:
    found = (Effect.GATED, "the ask list names this tool", call.tool.public_name)
    return found if matches_any(settings.ask, call.tool.public_name) else None


def external_cwd(call: Invocation, cwd: CwdJudgement) -> Found:
    if cwd.class_ not in (CwdClass.INVALID, CwdClass.OUTSIDE):
        return None
    detail = f"{cwd_of(call).text} ({name_of(cwd.class_)}: {name_of(cwd.why)})"
    return (Effect.GATED, "the process would not clearly start inside the workspace", detail)


def command_word(call: Invocation, _cwd: CwdJudgement) -> Found:
    if not starts_process(call):
        return None
    command = text_of(call, "command")
    # A command that is not there, or no text, is not one without those words.
    word = "no readable command" if command is None else word_in(settings.ask_words, command)
    return None if word is None else (Effect.GATED, f"the command holds: {word}", command or "")


#: The most restrictive first: whatever is refused is refused before a person is asked about it.
RULES: dict[str, Callable[[Invocation, CwdJudgement], Found]] = {
    "not-configured": not_configured,
    "rule-deny": rule_deny,
    "unknown-tool": unknown_tool,
    "rule-ask": rule_ask,
    "external-cwd": external_cwd,
    "command-word": command_word,
}


class Decisions(exports.Decisions):
    """The contract. Its name is that of the WIT interface."""

    def describe(self) -> Description:
        return Description(
            name="example-python",
            version="0.1.0",
            contract="0.1.0",
            summary="A deny list, an ask list and words in shell commands, written in Python.",
            settings_schema=json.dumps(SCHEMA),
        )

    def configure(self, settings_text: str) -> Configuration:
        global settings
        taken, issues = read(settings_text)
        if taken is None:
            return Configuration(ConfigurationOutcome.REJECTED, issues)
        settings = taken
        return Configuration(ConfigurationOutcome.ACCEPTED, [])

    def admit_tools(self, tools: list[ToolDefinition]) -> list[Admission]:
        def admit(tool: ToolRef) -> Admission:
            if is_denied(tool):
                return Admission(Effect.REFUSED, "rule-deny", "the deny list names this tool", Candidacy.EXEMPT)
            return Admission(Effect.FREE, "", "", Candidacy.CANDIDATE if is_foreign(tool) else Candidacy.EXEMPT)

        return [admit(definition.tool) for definition in tools]

    def should_defer(self, tool: ToolDefinition, totals: CatalogueTotals) -> Deferral:
        """Deferring a tool saves the model's context; it protects from nothing and changes no gate."""
        if tool.tool.origin == Origin.BRIDGE:
            return Deferral(Exposure.EAGER, "bridge")
        if is_denied(tool.tool):
            return Deferral(Exposure.HIDDEN, "denied")
        if totals.bridge != BridgeState.COMPLETE:
            return Deferral(Exposure.EAGER, "disabled")
        if not is_foreign(tool.tool):
            return Deferral(Exposure.EAGER, "core")
        if totals.candidate_tokens > TOKEN_BUDGET:
            return Deferral(Exposure.DEFERRED, "over-budget")
        return Deferral(Exposure.EAGER, "under-budget")

    def should_defer_all(self, tools: list[ToolDefinition], totals: CatalogueTotals) -> list[Deferral]:
        return [self.should_defer(tool, totals) for tool in tools]

    def is_approval_gated(self, invocation: Invocation) -> Gate:
        cwd = CwdJudgement(CwdClass.NOT_APPLICABLE, CwdWhy.NONE)
        if starts_process(invocation):
            cwd = judge(cwd_of(invocation), invocation.workspace, invocation.facts.cwd)
        trail: list[Step] = []
        for rule, look in RULES.items():
            found = look(invocation, cwd)
            if invocation.explain:
                outcome = StepOutcome.DECIDED if found else StepOutcome.PASSED_OVER
                trail.append(Step(rule, outcome, found[1] if found else "it does not apply"))
            if found:
                effect, reason, detail = found
                return Gate(effect, rule, reason, clip(detail), cwd, trail)
        return Gate(Effect.FREE, "", "nothing speaks against it", "", cwd, trail)

    def classify_cwd(self, given: Argument, workspace: Workspace, facts: CwdFacts, explain: bool) -> CwdAnswer:
        cwd = judge(given, workspace, facts)
        note = name_of(cwd.class_) if cwd.why == CwdWhy.NONE else f"{name_of(cwd.class_)}: {name_of(cwd.why)}"
        return CwdAnswer(cwd.class_, cwd.why, [Step("cwd", StepOutcome.DECIDED, note)] if explain else [])
