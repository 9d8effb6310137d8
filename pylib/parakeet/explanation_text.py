"""An explanation (explanation.py) as a text: one screen, or everything.

On the screen what says the same stands once: lines that are computed in one traversal, and lines
one behind the other of which the same has become.
"""

import textwrap
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from parakeet.text import clipped, listed, phases_text

_LONGEST = 40  # letters of an operator's source in a row
_WIDTH = 110  # letters of a row, but for one long word
_MOST_LINES = 3  # that are named each
_SOURCE = 44  # letters of a line's source beside what became of it

# Targets with more than one thread.
SPREADING = ("parallel", "gpu", "emulated_gpu")


@dataclass(frozen=True, slots=True)
class _Fate:
    """What became of an operator, or of several: `name` is its source, "" for all of the line."""

    name: str
    what: str
    reasons: tuple = ()
    fused_into: tuple = ()
    counts: tuple = ()  # of what is fused, (kind, how many)


_NONE = _Fate("", "no code of its own")


@dataclass(frozen=True, slots=True)
class _Entry:
    """Lines of the source, one behind the other, with their fates."""

    lines: tuple
    source: str
    fates: tuple


def screen(facts):
    """The text of one screen."""
    return _text(facts, lambda entries: _beside(_merged(entries)))


def everything(facts):
    """The long text: each line of the source by itself."""
    return _text(facts, _below)


def _text(facts, written):
    lines = [f"{facts['function']} {facts['signature']} on {facts['target']}"]
    rows = facts["rows"]
    files = dict.fromkeys(row.file for row in rows)
    for file in files:
        if len(files) > 1:
            lines.append(f"  {file.rpartition('/')[2]}")
        mine = [row for row in rows if row.file == file]
        lines += written([_entry(number, list(here), facts)
                          for number, here in groupby(mine, attrgetter("line"))])  # fmt: skip
    if not rows:
        lines.append("  no operator and no loop: scalar code alone")
    return "\n".join([*lines, *_totals(facts), f"  {_compiled(facts)}"])


# --- lines and their fates ---


def _entry(number, rows, facts):
    target = facts["target"]
    shown = [row for row in rows if row.own]
    named = len(shown) > 1
    fates = [_Fate(clipped(row.text, _LONGEST) if named else "",
                   _what(row, target, facts["told"]), row.reasons)
             for row in shown]  # fmt: skip
    # What has no traversal of its own is told of together; what is computed in one of the same
    # line is, where it may raise.
    away = [row for row in rows if not row.own and set(row.fused_into) - {row.line}]
    for lines in dict.fromkeys(map(attrgetter("fused_into"), away)):
        fates.append(_fused([row for row in away if row.fused_into == lines], lines))
    if not fates:
        fates.append(_Fate("", "interpreted") if target == "interpreter" else _NONE)
    checks = [name for row in rows if not row.own for name in row.checks]
    if checks:
        fates.append(_Fate("", _checks(checks)))
    return _Entry((number,), rows[0].source.strip(), tuple(fates))


def _fused(rows, lines):
    kinds = dict.fromkeys(row.kind for row in rows)
    counts = tuple((kind, sum(row.kind == kind for row in rows)) for kind in kinds)
    lanes = max(row.lanes for row in rows)
    also = f", {lanes} lanes" if lanes > 1 else ""
    return _Fate("", _fused_text(counts, lines) + also, (), lines, counts)


def _fused_text(counts, lines):
    named = [kind if n == 1 else _counted(n, kind) for kind, n in counts]
    return f"{listed(named, 4)}: fused into {_lines(lines)}"


def _merged(entries):
    """The entries, those one behind the other as one that say the same, or are parts of one."""
    merged = []
    for entry in entries:
        joined = _joined(merged[-1], entry) if merged else None
        if joined:
            merged[-1] = joined
        else:
            merged.append(entry)
    return merged


def _joined(first, second):
    """Both as one, None where they say different things."""
    lines = first.lines + second.lines
    if any(fate.name for fate in (*first.fates, *second.fates)):
        return None
    if first.fates == second.fates and not first.fates[0].fused_into:
        return _Entry(lines, first.source, first.fates)
    ones, others = (entry.fates[0] for entry in (first, second))
    if ones.fused_into and second.fates == (_NONE,):
        return _Entry(lines, first.source, first.fates)
    if not ones.fused_into or ones.fused_into != others.fused_into:
        return None
    if any(fate.fused_into for fate in (*first.fates[1:], *second.fates[1:])):
        return None
    counts = dict(ones.counts)
    for kind, n in others.counts:
        counts[kind] = counts.get(kind, 0) + n
    counts = tuple(counts.items())
    fate = _Fate("", _fused_text(counts, ones.fused_into), (), ones.fused_into, counts)
    left = dict.fromkeys((*first.fates[1:], *second.fates[1:]))
    return _Entry(lines, first.source, (fate, *left))


# --- how they are written ---


def _beside(entries):
    """Each line's source with what became of it beside it."""
    labels = [_label(entry.lines) for entry in entries]
    width = max(map(len, labels), default=0)
    sources = [entry.source + (" ..." if len(entry.lines) > 1 else "") for entry in entries]
    longest = min(max(map(len, sources), default=0), _SOURCE)
    for label, source, entry in zip(labels, sources, entries, strict=True):
        column = width + 4 + longest
        head = f"  {label:>{width}}  {clipped(source, longest):<{longest}}"
        if len(entry.fates) > 1 and entry.fates[0].name:
            yield f"  {label:>{width}}  {clipped(source, _WIDTH - width - 4)}"
            head = ""
        for fate in entry.fates:
            name = f"{'':<{width + 6}}{fate.name}" if fate.name else head
            if len(name) > column:
                name = clipped(name, column)
            yield from _wrapped(fate.what, column + 2, f"{name:<{column}}  ")
            head = ""
            for reason in fate.reasons:
                yield from _wrapped(reason, width + 8)


def _label(lines):
    return str(lines[0]) if len(lines) == 1 else f"{lines[0]}-{lines[-1]}"


def _below(entries):
    """Each line's source, and below it what became of it."""
    width = max((len(_label(entry.lines)) for entry in entries), default=0)
    for entry in entries:
        yield f"  {_label(entry.lines):>{width}}  {clipped(entry.source, 90)}"
        for fate in entry.fates:
            name = f"{fate.name}  " if fate.name else ""
            yield from _wrapped(f"{name}{fate.what}", width + 6)
            for reason in fate.reasons:
                yield from _wrapped(reason, width + 8)


def _wrapped(text, indent, first=None):
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=" " * indent if first is None else first,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _what(row, target, told):
    return f"{row.kind}: " + ", ".join(_facts(row, target, told.get((row.file, *row.span), ())))


def _facts(row, target, told):
    yield _threads(row, target)
    if row.lanes > 1:
        yield f"{row.lanes} lanes"
    if row.route:
        yield row.route
    others = [line for line in row.takes_in if line != row.line]
    if others:
        yield f"takes in {_lines(others)}"
    elif told:
        one = clipped(told[0], _LONGEST)
        yield f"takes in {one if len(told) == 1 else f'{len(told)} operators'}"
    yield from row.done
    made = ((row.results, "result"), (row.temporaries, "temporary array"))
    words = [f"a {word}" if n == 1 else _counted(n, word) for n, word in made if n]
    if words:
        yield "makes " + " and ".join(words)
    if row.checks:
        yield _checks(row.checks)


def _checks(names):
    kinds = listed(sorted(set(names)), 3)
    return f"{len(names)} {_plural('check', len(names))} left inside ({kinds})"


def _threads(row, target):
    if target not in SPREADING:
        return "one thread"
    if row.threads == "around":
        same = row.around == row.line
        return "inside what is parallel" if same else f"inside line {row.around}, which is parallel"
    return {"own": "parallel", "part": "parallel in part"}.get(row.threads, "sequential")


def _lines(numbers):
    """The lines, of many of them the first and the last."""
    numbers = sorted(set(numbers))
    few = len(numbers) <= _MOST_LINES
    named = listed(map(str, numbers), _MOST_LINES) if few else f"{numbers[0]} to {numbers[-1]}"
    return f"{_plural('line', len(numbers))} {named}"


def _plural(word, count):
    return word if count == 1 else f"{word.removesuffix('y')}ies" if word == "copy" else f"{word}s"


def _counted(count, word):
    return f"{count} {_plural(word, count)}"


def _totals(facts):
    if facts["target"] == "interpreter":
        return
    parts = [_counted(facts["traversals"], "traversal")] if facts["traversals"] else []
    if facts["target"] in SPREADING and parts:
        word = "parallel region" if facts["target"] == "parallel" else "kernel"
        parts.append(_counted(facts["parallel_regions"], word))
    made, kept = facts["results"] + facts["temporaries"], facts["temporaries"]
    parts.append(_counted(made, "array") + " made" + (f" ({kept} temporary)" if kept else ""))
    if facts["buffers"]:
        parts.append(_counted(facts["buffers"], "work buffer"))
    inside, before = facts["checks_in_loops"], facts["checks_before"]
    if inside:
        parts.append(_counted(inside, "check") + " left in loops")
    if before:
        parts.append(_counted(before, "check") + " outside loops")
    if not inside and not before:
        parts.append("no checks left")
    yield "  " + ", ".join(parts)
    if any(note.topic == "shapes" for note in facts["notes"]):
        yield "  takes sizes to be equal and loops to run, which each call checks first"


def _compiled(facts):
    origin = "loaded from disk" if facts["from_disk"] else "compiled"
    return f"{origin} in {facts['compile_ms']:.2f} ms: {phases_text(facts['phases'])}"
