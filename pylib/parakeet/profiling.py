"""`parakeet.profile()`: where the time of jitted functions goes, by function, line and operator.

Under a profile a function runs code of its own that reads the clock before each traversal
(passes/mark_regions.cc), compiled at its first call there; other code is as it was. How many bytes
a line moves and how much arithmetic it does is what the code says of itself by the sizes of a
call, not what a processor counted.
"""

import json
import linecache
from dataclasses import dataclass, field, fields, replace

from parakeet import _core
from parakeet.targets import name_of
from parakeet.text import clipped, listed

# Advice is about what takes this much of a function's time, and about arrays of so many bytes.
_SHARE = 0.2
_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Region:
    """The traversals of one operator of the source, or of all of a line (`Called.lines`), in all
    calls of a function together. A call of a library function is one operator.

    file, line  of the source; `source` is the text of that line
    span        line, column, end line and end column of the operator, columns in UTF-8 bytes
    text        the operator's own source; of a line, ""
    entries     how many began; in a loop, each time counts. 0 where it only made an array
    seconds     how long they took
    bytes       of arrays read and written, each element once a traversal; None where it is not
                known
    operations  arithmetic on floats, a function counting as one; None where it is not known
    allocated   bytes of arrays and work space made
    """

    file: str
    line: int
    span: tuple
    source: str
    text: str
    entries: int
    seconds: float
    bytes: int | None
    operations: int | None
    allocated: int


@dataclass(frozen=True, slots=True)
class Called:
    """A function for one kind of arguments; fields as Region's, times in seconds.

    function         the jitted function
    signature        the types of its arguments
    calls, failed    how often it was called, and how often of these it raised
    compile_seconds  of the code that was profiled
    regions          one an operator, in the order of the code
    lines            the same by line: the operators of each added up
    """

    function: object
    signature: str
    target: str
    calls: int
    failed: int
    seconds: float
    allocated: int
    compile_seconds: float
    regions: tuple
    record: dict = field(repr=False)

    @property
    def name(self):
        return self.function.__qualname__

    @property
    def lines(self):
        lines = {}
        for region in self.regions:
            place = (region.file, region.line)
            whole = replace(region, text="", span=(region.line,))
            lines[place] = _added(lines[place], whole) if place in lines else whole
        return tuple(lines.values())

    @property
    def bytes(self):
        return _sum(region.bytes for region in self.regions)

    @property
    def operations(self):
        return _sum(region.operations for region in self.regions)


def _sum(values):
    """None where one is not known, or where there is none."""
    values = list(values)
    return None if None in values or not values else sum(values)


class Profile:
    """What ran between `__enter__` and `__exit__`: shown as a table, with `functions` and `tips`.

    functions  one Called for each function and kind of arguments, what took longest first
    tips       texts: what takes time that the caller, or another way to write it, could save
    """

    def __init__(self, show=True):
        self._show = show
        self._tips = None
        self.functions = ()

    def __enter__(self):
        _core.start_profile()
        self._tips = None
        return self

    def __exit__(self, kind, error, trace):
        functions = _merged(map(_called, _core.stop_profile()))
        self.functions = tuple(sorted(functions, key=lambda each: -each.seconds))
        if self._show and kind is None:
            print(self)

    @property
    def tips(self):
        if self._tips is None:
            tips = [tip for each in self.functions for tip in _tips(each)]
            self._tips = (*tips, *_compilations(self.functions))
        return self._tips

    def __str__(self):
        if not self.functions:
            return "no jitted function was called"
        lines = _table([_HEADER, *(row for each in self.functions for row in _rows(each))])
        return "\n".join([*lines, *(f"tip: {tip}" for tip in self.tips)])

    __repr__ = __str__


def profile(show=True):
    """A context in which jitted functions are profiled, in every thread.

        with parakeet.profile() as p:
            f(x)

    prints a table of calls, times, GB/s, GFLOP/s and bytes allocated, by function, by source line
    and, where a line has several, by operator, with tips; `show=False` prints nothing.
    `p.functions` and `p.tips` have the numbers. The first call of a function under a profile
    compiles code that says where its time goes, which is kept for later profiles but not on disk.
    RuntimeError where a profile is running already.
    """
    return Profile(show)


def _called(record):
    totals = record["profile"]
    return Called(
        function=record["function"],
        signature=record["signature"],
        target=name_of(record["target"]),
        calls=totals["calls"],
        failed=totals["failed"],
        seconds=totals["ns"] / 1e9,
        allocated=totals["allocated"],
        compile_seconds=record["compile_ms"] / 1e3,
        regions=tuple(
            _region(each)
            for each in totals["regions"]
            if each["file"] and (each["entries"] or each["allocated"])
        ),
        record=record,
    )


def _merged(functions):
    """One for each function, signature and target: other shapes are other code, as may be the same
    function after something that it reads has changed."""
    merged = {}
    for each in functions:
        key = (each.function, each.signature, each.target)
        merged[key] = _sum_of(merged[key], each) if key in merged else each
    return merged.values()


def _sum_of(one, other):
    regions = {(each.file, each.span): each for each in one.regions}
    for each in other.regions:
        place = (each.file, each.span)
        regions[place] = _added(regions[place], each) if place in regions else each
    added = _added(one, other, regions=tuple(regions.values()))
    return added if one.calls >= other.calls else replace(added, record=other.record)


def _added(one, other, **changes):
    """The numbers of both together."""
    for part in fields(one):
        a, b = getattr(one, part.name), getattr(other, part.name)
        if part.type in (int, float, int | None) and part.name != "line":
            changes[part.name] = None if a is None or b is None else a + b
    return replace(one, **changes)


def _region(each):
    source = linecache.getline(each["file"], each["span"][0])
    return Region(
        file=each["file"],
        line=each["span"][0],
        span=each["span"],
        source=source.strip(),
        text=_text_of(source, each["span"]),
        entries=each["entries"],
        seconds=each["ns"] / 1e9,
        bytes=each["bytes"],
        operations=each["operations"],
        allocated=each["allocated"],
    )


def _text_of(source, span):
    """The operator's part of its line; of one of several lines, the first of them."""
    line, column, end_line, end_column = span
    if line != end_line:
        return source.encode()[column:].decode(errors="replace").strip() + " ..."
    return source.encode()[column:end_column].decode(errors="replace")


# --- the table ---

_HEADER = ("", "calls", "total", "each", "GB/s", "GFLOP/s", "allocated")


def _rows(called):
    title = f"{called.name} {called.signature} on {called.target}"
    yield _cells(title, called.calls, called)
    home = called.function.__wrapped__.__code__.co_filename
    lines = called.lines
    places = [_place(line, home) for line in lines]
    width = max(map(len, places), default=0)
    for place, line in zip(places, lines, strict=True):
        yield _cells(f"  {place:>{width}}  {line.source}", line.entries, line)
        parts = [r for r in called.regions if (r.file, r.line) == (line.file, line.line)]
        for part in parts if len(parts) > 1 else ():
            yield _cells(f"  {'':>{width}}    {part.text}", part.entries, part)
    rest = called.seconds - sum(line.seconds for line in lines)
    if called.regions and rest > _SHARE * called.seconds:
        yield ("  elsewhere", "", _time(rest), "", "", "", "")


def _place(region, home):
    """The line, with its file where that is another than the function's."""
    file = "" if region.file == home else region.file.rpartition("/")[2] + ":"
    return f"{file}{region.line}"


def _cells(title, count, what):
    return (
        clipped(title, 60),
        str(count),
        _time(what.seconds),
        _time(what.seconds / count) if count else "",
        _rate(what.bytes, what.seconds),
        _rate(what.operations, what.seconds),
        _size(what.allocated),
    )


def _table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join([row[0].ljust(widths[0]), *cells]).rstrip()


def _time(seconds):
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def _rate(amount, seconds):
    return "" if not amount or not seconds else f"{amount / seconds / 1e9:.3g}"


def _size(count):
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count} B" if count else ""


# --- tips ---


def _tips(called):
    names = _parameters(called.function)
    for name, kind in zip(names, called.record["arguments"], strict=False):
        if kind.startswith("list "):
            yield f"{called.name} copies the list {name} each call: pass an array"
        elif "[" in kind and "S" in kind.rpartition("]")[2]:
            yield f"{called.name} reads {name} with strides each call: pass it C-contiguous"
    yield from _tips_of_lines(called)


def _compilations(functions):
    slow = [
        f"{called.name} ({_time(called.compile_seconds)}, {_time(called.seconds)})"
        for called in functions
        if called.compile_seconds > called.seconds
    ]
    if slow:
        yield (
            f"compiling took longer than running: {listed(slow, 4)};"
            " it pays with more calls, or larger ones"
        )


def _parameters(function):
    code = function.__wrapped__.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _tips_of_lines(called):
    account = called.function._dump_of(called.record["number"], "account", "")
    if account is None or called.target == "interpreter":
        return
    from parakeet import explanation

    made = explanation.make(called.function, called.record, called.target, json.loads(account))
    for line in called.lines:
        rows = [r for r in made.rows if r.own and (r.file, r.line) == (line.file, line.line)]
        yield from _tips_of_region(called, line, rows)


def _tips_of_region(called, region, rows):
    place = f"{called.name}, line {region.line}"
    makes = [row for row in rows if row.temporaries]
    if (
        makes
        and not any(row.results for row in rows)
        and region.allocated >= _BYTES * called.calls
    ):
        size = _size(region.allocated)
        yield f"{place} makes temporary arrays, {size} in all calls{_why(makes)}"
    if not rows or region.seconds < _SHARE * called.seconds:
        return
    # What such a loop does by itself is no nest: those that its steps hold are spread.
    if any(text.startswith("several steps at once") for row in rows for text in row.done):
        return
    share = f"{region.seconds / called.seconds:.0%} of the time"
    if called.target == "parallel" and all(row.threads == "none" for row in rows) and _why(rows):
        yield f"{place} takes {share} on one thread{_why(rows)}"
    elif all(row.lanes == 1 for row in rows) and _why(rows):
        yield f"{place} takes {share} without lanes{_why(rows)}"


def _why(rows):
    reasons = dict.fromkeys(reason for row in rows for reason in row.reasons)
    return f": {'; '.join(reasons)}" if reasons else ""
