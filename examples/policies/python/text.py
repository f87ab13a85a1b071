"""Patterns, words, and text that is safe to show."""

import re
from collections.abc import Iterable
from enum import Enum


def name_of(case: Enum) -> str:
    """A case as the contract spells it."""
    return case.name.lower().replace("_", "-")


def glob(pattern: str) -> re.Pattern[str]:
    """`*` stands for any characters, `?` for one, all else for itself. (`fnmatch` would read `[` as well.)"""
    parts = {"*": ".*", "?": "."}
    runs = re.sub(r"\*+", "*", pattern)
    return re.compile("".join(parts.get(c) or re.escape(c) for c in runs), re.DOTALL)


def matches_any(patterns: Iterable[re.Pattern[str]], name: str) -> bool:
    """Whether one of the patterns stands for this whole name."""
    return any(pattern.fullmatch(name) for pattern in patterns)


def word(text: str) -> tuple[str, re.Pattern[str]]:
    """A word, and how it is found. Letter case does not count: some file systems fold it."""
    return text, re.compile(rf"(?<![A-Za-z0-9_]){re.escape(text)}(?![A-Za-z0-9_])", re.IGNORECASE)


def word_in(words: Iterable[tuple[str, re.Pattern[str]]], command: str) -> str | None:
    """The first of the words that stands in a command by itself: `rm` stands in `sudo /bin/rm x`, not in `firm`."""
    return next((text for text, pattern in words if pattern.search(command)), None)


def clip(text: str) -> str:
    """At most 200 characters, in which nothing is invisible: controls, bidi marks and odd blanks are spelled out."""
    visible = "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in text[:400])
    return visible if len(visible) <= 200 else visible[:199] + "…"
