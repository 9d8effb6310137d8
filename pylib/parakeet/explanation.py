"""What `f.explain(*args)` gives: a text of one screen (explanation_text.py), and its facts.

The compiler hands over what became of each operator and loop of the source, and what its passes
said (pylib/compiler/write_account.h). Here they are sorted to lines, and what the code as it runs
bears out is kept: a pass that refused what a later one did says nothing to a user.
"""

import linecache
import re
from dataclasses import dataclass

from parakeet import explanation_text
from parakeet.cuda_libraries import why_no_cublas
from parakeet.text import Text, listed


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

    verbose          a longer text: each line by itself, with all that its rows say
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
    facts["told"] = _told(account["operators"])
    explanation = Explanation(explanation_text.screen(facts))
    facts["verbose"] = Text(explanation_text.everything(facts))
    del facts["told"]
    explanation.__dict__.update(facts)
    return explanation


# --- from the account to rows ---


def _note(note):
    span, other = note["span"], note["other"]
    return Note(
        stage=note["pass"],
        topic=note["topic"],
        verdict=note["verdict"],
        text=_in_words(note),
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
                told.setdefault(_place(span), []).append(each["text"])
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
        kind="contraction" if route else _kind(each),
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
_KINDS = ("call", "filter", "scan", "reduction", "copy", "map", "while loop", "loop")


def _kind(each):
    """In a word; of a statement of the user's that is a loop, which."""
    kinds, text = each["kinds"], each["text"]
    if "while loop" in kinds and text.startswith("for "):
        return "loop that may break off"
    if text.startswith(("for ", "while ")):
        kinds = [kind for kind in kinds if kind.endswith("loop")] or kinds
    return next((kind for kind in _KINDS if kind in kinds), kinds[0])


def _texts(notes):
    return list(dict.fromkeys(_in_words(note) for note in notes))


_MADE_AT = re.compile(r"the array of line (\d+)")
_ASSIGNED = re.compile(r"\s*([^\W\d]\w*)\s*(:[^=]*)?=[^=]")


def _in_words(note):
    """The text of a note, with arrays as the source names them."""
    file = note["span"] and note["span"][0]

    def name(made):
        source = linecache.getline(file or "", int(made[1]))
        assigned = _ASSIGNED.match(source)
        return assigned[1] if assigned else made[0]

    return _MADE_AT.sub(name, note["text"].replace("%", ""))


def _route(notes):
    texts = _texts(n for n in notes if n["topic"] == "contraction" and n["verdict"] == "done")
    return texts[-1] if texts else ""


# What is said of matrices, and of the copies that places are counted in: these are no matrix that
# a user knows of.
_OF_MATRICES = "shares the traversal of a matrix's rows"


def _done(notes):
    topics = ("threads", "memory")
    done = _texts(n for n in notes if n["topic"] in topics and n["verdict"] == "done")
    has_copies = any(text.startswith("counted in copies") for text in done)
    for text in done:
        is_told = text.startswith("spread over") or text == "its iterations are independent"
        if not is_told and not (has_copies and text == _OF_MATRICES):
            yield text


def _standing(notes, topic, is_spread=True):
    """The refusals of a topic that nothing was done after. Of what is not spread over threads,
    `schedule` may still have spread what passes have put beside it."""
    mine = [note for note in notes if note["topic"] == topic
            and (is_spread or note["pass"] != "schedule")]  # fmt: skip
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
        refused = _standing(notes, topic, each["threads"] != "none")
        if not refused:
            continue
        has_threads = each["threads"] != "none" or target not in explanation_text.SPREADING
        if topic == "threads" and has_threads:
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
