"""Settings: what `[module.settings]` may hold, and what is wrong with it, to the key."""

import json
import re
from dataclasses import dataclass

from wit_world.exports.decisions import Issue

from text import glob, word

Pattern = re.Pattern[str]


@dataclass(frozen=True)
class Settings:
    """Settings that were taken."""

    deny: list[Pattern]
    ask: list[Pattern]
    ask_words: list[tuple[str, Pattern]]


def list_of(description: str) -> dict:
    items = {"type": "string", "minLength": 1, "maxLength": 200}
    return {"type": "array", "items": items, "description": description}


LISTS = {
    "deny": list_of("Patterns of public tool names that are refused; * stands for any characters, ? for one"),
    "ask": list_of("Patterns of public tool names that a person is asked about"),
    "askWords": list_of("Words; a shell command that holds one is asked about"),
}

#: JSON Schema of the settings.
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"module": {"properties": {"settings": {"properties": LISTS, "additionalProperties": False}}}},
}

#: Sections that the host holds by itself, as floors, or that change nothing here: this module never turns a gate off.
SECTIONS = ("system", "module")


def pointer(*keys: str | int) -> str:
    """A JSON pointer."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


def shown(value: object) -> str:
    return f"`{json.dumps(value)[:60]}`"


def read(text: str) -> tuple[Settings | None, list[Issue]]:
    """The settings, or all that is wrong with them. What is not understood is wrong: nothing falls back to "off"."""
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        return None, [Issue("", "the settings are no JSON object", "an object")]

    issues = [
        Issue(pointer(section), "this module does not read this section", "sections `system` and `module`")
        for section in given
        if section not in SECTIONS
    ]
    own = given.get("module", {}).get("settings", {})
    if not isinstance(own, dict):
        issues.append(Issue("/module/settings", f"{shown(own)} is no table", "a table"))
        own = {}
    for key, items in own.items():
        at = ("module", "settings", key)
        if key not in LISTS:
            issues.append(Issue(pointer(*at), f"unknown key `{key}`", "keys `deny`, `ask` and `askWords`"))
        elif not isinstance(items, list):
            issues.append(Issue(pointer(*at), f"{shown(items)} is no list", "a list of texts"))
        else:
            issues += [
                Issue(pointer(*at, index), f"{shown(item)} is no text of 1 to 200 characters", "a text of 1 to 200 characters")
                for index, item in enumerate(items)
                if not isinstance(item, str) or not 1 <= len(item) <= 200
            ]
    if issues:
        return None, issues
    deny, ask, words = (own.get(key, []) for key in ("deny", "ask", "askWords"))
    return Settings([*map(glob, deny)], [*map(glob, ask)], [*map(word, words)]), []
