"""What `f.explain(*args)` gives: a text of one screen, and the facts that it is made of.

The compiler hands over what became of each operator and loop of the source, and what its passes
said (pylib/compiler/write_account.h). Here they are sorted to lines, and what the code as it runs
bears out is kept: a pass that refused what a later one did says nothing to a user.
"""

import textwrap
from dataclasses import dataclass
from operator import attrgetter

from parakeet.cuda_libraries import why_no_cublas
from parakeet.text import Text, clipped, listed, phases_text

_LONGEST = 40  # letters of an operator's source in a row
_WIDTH = 110  # letters of a row, but for one long word


@dataclass(frozen=True, slots=True)
class Note:
    """What a pass said of a place in the source.

    topic    "fusion", "siblings", "nests", "threads", "lanes", "contraction", "memory", "shapes",
             "other"
    verdict  "done", "refused", or "aside" for what decides nothing
    line     of the source; None where the place is not known
    other    the line of the other party (what reads it, its sibling), None where there is none
    """

    stage: str
    topic: str
    verdict: str
    text: str
    file: str | None
    line: int | None
    other: int | None

    def __str__(self):
        place = "" if self.line is None else f"{self.file.rpartition('/')[2]}:{self.line}: "
        return f"{place}{self.text}"


class Notes(tuple):
    """All notes, in order; shown grouped by pass."""

    __slots__ = ()

    def __str__(self):
        by_pass = {}
        for note in self:
            by_pass.setdefault(note.stage, {}).setdefault(str(note))
        lines = []
        for stage, texts in by_pass.items():
            lines += [stage, *(f"  {text}" for text in texts)]
        return "\n".join(lines) or "no pass has a remark"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Row:
    """One operator or loop of the source; a call of a library function is one.

    file, line   where it begins; `span` has line, column, end line and end column, columns in
                 UTF-8 bytes; `source` is the text of that line, `text` its own
    kind         "map", "reduction", "scan", "filter", "contraction", "loop", "copy", "call" ...
    own          whether it is traversed by itself
    threads      "own" where it is spread over threads, "part" where some of its traversals are,
                 "around" where what stands around it is (`around` is that one's line), "none"
    lanes        how many elements one iteration takes, at most
    fused_into   the lines in whose traversals it is computed, where it has none of its own
    takes_in     the lines that are computed in its traversal
    route        how a contraction is written, "" for others
    checks       the exceptions that its loops may still raise, one a check
    results, temporaries
                 how many arrays it makes that are given back, and that end with the call
    done         what was done about threads and memory, beside what the fields above say
    reasons      why not, for each refusal that the code as it runs bears out
    """

    file: str
    line: int
    span: tuple
    source: str
    text: str
    kind: str
    own: bool
    threads: str
    around: int | None
    lanes: int
    fused_into: tuple
    takes_in: tuple
    route: str
    checks: tuple
    results: int
    temporaries: int
    done: tuple
    reasons: tuple


class Explanation(Text):
    """What became of a function, compiled for some arguments: a text with attributes.

    function, signature, target, rows, compile_ms, phases, from_disk
    notes            everything that the passes said
    traversals, parallel_regions, results, temporaries, buffers, checks_in_loops, checks_before
                     counts in the code's text: what a loop repeats counts once. Buffers are work
                     space that is no array of the source.
    """


def make(function, record, target, account):
    """The Explanation of a compilation, from its record and the compiler's account of it."""
    notes = Notes(map(_note, account["notes"]))
    rows = _rows(account, target)
    told = _told(account["operators"])
    facts = {name: value for name, value in account.items() if isinstance(value, int)}
    facts.update(
        function=function.__qualname__,
        signature=record["signature"],
        target=target,
        rows=tuple(rows),
        notes=notes,
        compile_ms=record["compile_ms"],
        phases=record["phases"],
        from_disk=record["from_disk"],
    )
    explanation = Explanation(_screen(facts, told))
    explanation.__dict__.update(facts)
    return explanation


# --- from the account to rows ---


def _note(note):
    span, other = note["span"], note["other"]
    return Note(
        stage=note["pass"],
        topic=note["topic"],
        verdict=note["verdict"],
        text=note["text"].replace("%", ""),  # as the source names values
        file=span and span[0],
        line=span and span[1],
        other=other and other[1],
    )


def _rows(account, target):
    operators = account["operators"]
    said = {}
    for note in account["notes"]:
        said.setdefault(_place(note["span"]), []).append(note)
    taken = {}
    for each in operators:
        for span in each["into"]:
            taken.setdefault(_place(span), set()).add(each["span"][1])
    rows = [_row(each, said, taken, operators, target) for each in operators]
    first = rows[0].file if rows else None
    return sorted(rows, key=lambda row: (row.file != first, row.file, row.line))


def _told(operators):
    """By the place of a traversal, what it computes of its own line beside itself."""
    told = {}
    for each in operators:
        for span in each["into"]:
            if span[:2] == each["span"][:2]:
                told.setdefault(_place(span), []).append(clipped(each["text"], _LONGEST))
    return told


def _place(span):
    return tuple(span) if span else None


def _row(each, said, taken, operators, target):
    place = _place(each["span"])
    notes = said.get(place, [])
    route = _route(notes)
    return Row(
        file=place[0],
        line=place[1],
        span=place[1:],
        source=each["line"],
        text=each["text"],
        kind="contraction" if route else _strongest(each["kinds"]),
        own=each["own"],
        threads=each["threads"],
        around=each["around"] and each["around"][1],
        lanes=each["lanes"],
        fused_into=tuple(sorted({span[1] for span in each["into"]})),
        takes_in=tuple(sorted(taken.get(place, ()))),
        route=route,
        checks=tuple(each["checks"]),
        results=each["results"],
        temporaries=each["temporaries"],
        done=tuple(_done(notes)),
        reasons=(*_by_way_of_the_host(each, target), *_reasons(each, notes, operators, target)),
    )


# What a library function is made of, the part that says most first.
_KINDS = ("call", "filter", "scan", "reduction", "while loop", "loop", "copy", "map")


def _strongest(kinds):
    return next((kind for kind in _KINDS if kind in kinds), kinds[0])


def _texts(notes):
    return list(dict.fromkeys(note["text"].replace("%", "") for note in notes))


def _route(notes):
    texts = _texts(n for n in notes if n["topic"] == "contraction" and n["verdict"] == "done")
    return texts[-1] if texts else ""


def _done(notes):
    done = (n for n in notes if n["topic"] in ("threads", "memory") and n["verdict"] == "done")
    for text in _texts(done):
        if not text.startswith("spread over") and text != "its iterations are independent":
            yield text


# Targets with more than one thread.
_SPREADING = ("parallel", "gpu", "emulated_gpu")


def _standing(notes, topic):
    """The refusals of a topic that nothing was done after."""
    mine = [note for note in notes if note["topic"] == topic]
    for at in range(len(mine), 0, -1):
        if mine[at - 1]["verdict"] == "done":
            mine = mine[at:]
            break
    return _texts(note for note in mine if note["verdict"] == "refused")


def _by_way_of_the_host(each, target):
    """What a GPU does not do: its arrays are copied to the host for it, and back."""
    if target in ("gpu", "emulated_gpu") and each["calls"]:
        yield f"goes through the host for {listed(each['calls'], 5)}"


def _reasons(each, notes, operators, target):
    if not each["own"]:
        return
    if target.startswith("gpu") and "cuBLAS" in _route(notes):
        why = why_no_cublas()
        if why:
            yield why
    for topic in ("threads", "lanes", "fusion", "siblings", "nests", "contraction", "memory"):
        refused = _standing(notes, topic)
        if not refused:
            continue
        if topic == "threads" and (each["threads"] != "none" or target not in _SPREADING):
            if target == "serial" and not _has_lanes_near(each["span"], operators):
                yield from _without_lanes(refused)
            continue
        if topic == "lanes" and _has_lanes_near(each["span"], operators):
            continue
        # What one pass leaves to the next has that one's reason.
        yield from refused[-1:] if topic in ("fusion", "lanes") else refused


def _without_lanes(refused):
    """What forbids threads forbids lanes, which is all that one thread loses."""
    prefix = "not parallel: "
    for text in refused:
        if text.startswith(prefix):
            yield "no lanes: " + text.removeprefix(prefix)


def _has_lanes_near(mine, operators):
    """Whether it, what is inside it or what it is inside of, is spread over lanes."""
    spans = [other["span"] for other in operators if other["lanes"] > 1]
    return any(_contains(mine, span) or _contains(span, mine) for span in spans)


def _contains(outer, inner):
    return outer[0] == inner[0] and outer[1:3] <= inner[1:3] and outer[3:5] >= inner[3:5]


# --- the screen ---


def _screen(facts, told):
    lines = [f"{facts['function']} {facts['signature']} on {facts['target']}"]
    rows = facts["rows"]
    files = dict.fromkeys(row.file for row in rows)
    width = max((len(str(row.line)) for row in rows), default=0)
    for file in files:
        if len(files) > 1:
            lines.append(f"  {file.rpartition('/')[2]}")
        mine = [row for row in rows if row.file == file]
        for number in dict.fromkeys(map(attrgetter("line"), mine)):
            here = [row for row in mine if row.line == number]
            lines += _line(number, here, width, facts["target"], told)
    if not rows:
        lines.append("  no operator and no loop: scalar code alone")
    return "\n".join([*lines, *_totals(facts), f"  {_compiled(facts)}"])


def _line(number, rows, width, target, told):
    yield f"  {number:>{width}}  {clipped(rows[0].source.strip(), 90)}"
    shown = [row for row in rows if row.own]
    texts = [[_what(row, target, told), *row.reasons] for row in shown]
    # What has no traversal of its own is told of together; what is computed in one of the same
    # line is, where it may raise.
    away = [row for row in rows if not row.own and set(row.fused_into) - {row.line}]
    for lines in dict.fromkeys(map(attrgetter("fused_into"), away)):
        texts.append([_fused([row for row in away if row.fused_into == lines], lines)])
    if not texts:
        texts = [["interpreted" if target == "interpreter" else "no code of its own"]]
    checks = [name for row in rows if not row.own for name in row.checks]
    if checks:
        texts.append([_checks(checks)])
    names = [clipped(row.text, _LONGEST) for row in shown] if len(shown) > 1 else []
    for at, (what, *reasons) in enumerate(texts):
        name = f"{names[at]}  " if at < len(names) else ""
        yield from _wrapped(f"{name}{what}", width + 6)
        for reason in reasons:
            yield from _wrapped(reason, width + 8)


def _wrapped(text, indent):
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _fused(rows, lines):
    kinds = dict.fromkeys(row.kind for row in rows)
    counts = [sum(row.kind == kind for row in rows) for kind in kinds]
    named = [
        kind if count == 1 else f"{count} {_plural(kind, count)}"
        for kind, count in zip(kinds, counts, strict=True)
    ]
    lanes = max(row.lanes for row in rows)
    return f"{listed(named, 4)}: fused into {_lines(lines)}" + (
        f", {lanes} lanes" if lanes > 1 else ""
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
        few = len(told) <= 2
        yield f"takes in {' and '.join(told)}" if few else f"takes in {len(told)} operators"
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
    if target not in _SPREADING:
        return "one thread"
    if row.threads == "around":
        same = row.around == row.line
        return "inside what is parallel" if same else f"inside line {row.around}, which is parallel"
    return {"own": "parallel", "part": "parallel in part"}.get(row.threads, "sequential")


def _lines(numbers):
    numbers = sorted(set(numbers))
    return f"{_plural('line', len(numbers))} {listed(map(str, numbers), 5)}"


def _plural(word, count):
    return word if count == 1 else f"{word}s"


def _counted(count, word):
    return f"{count} {_plural(word, count)}"


def _totals(facts):
    if facts["target"] == "interpreter":
        return
    parts = [_counted(facts["traversals"], "traversal")] if facts["traversals"] else []
    if facts["target"] in _SPREADING and parts:
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
