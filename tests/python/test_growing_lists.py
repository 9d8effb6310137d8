"""Lists that are appended to and popped from, beside Python's own; those that stay refused."""

import numpy as np
import pytest
from agreement import check_agreement

import parakeet
from parakeet import jit

X = np.random.default_rng(2).standard_normal(40)
MASK = np.random.default_rng(3).random((12, 15)) < 0.6


def kept(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v * 2)
    return np.array(out), len(out), np.sum(np.array(out) > 1)


def all_appended(x):
    out = []
    for v in x:
        out.append(v)
    return np.array(out), out[len(x) // 2], out[-1], np.array(out[1:4]), np.array(out[::-1])


def filled(mask, start):
    seen = np.zeros_like(mask)
    stack = [start]
    count = np.int64(0)
    while stack:
        y, x = stack.pop()
        if not (0 <= y < mask.shape[0] and 0 <= x < mask.shape[1]) or seen[y, x] or not mask[y, x]:
            continue
        seen[y, x] = True
        count += 1
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            stack.append((y + dy, x + dx))
    return seen, count


def of_several_dtypes(x):
    found = [(0, 1.5, True)]
    for i in range(len(x)):
        found.append((i, x[i], x[i] > 0))
    total = 0.0
    for k, (i, v, b) in enumerate(found):
        if b:
            total += i * v + k
    i, v, b = found[3]
    return total, v, b, np.float64(i), (2, x[2], x[2] > 0) in found, (2, 0.0, True) in found


def widened(x):
    out = [0]
    for i, v in enumerate(x):
        if i % 2:
            out.append(v)
    return np.array(out)


def popped_within_values(x):
    st = [0.0]
    for v in x:
        st.append(v)
    a, b = st.pop(), st.pop()
    a += st.pop() * 2 - st.pop()
    st[0] = 5
    st[-1] -= 1
    if st and len(st) > 2:
        a -= st.pop()
    st.pop()
    other = x[int(abs(st.pop())) % len(x)]
    return a, b, other, np.array(st), 5 in st, 77.0 in st


def begun_again(x):
    total = 0.0
    for row in x.reshape(-1, 4):
        some = []
        for v in row:
            if v > 0:
                some.append(v)
        total += len(some) * (max(some) if some else -1.0)
        some.clear()
        if some:
            total += 100
    return total


def largest_rectangle(x):
    h = (x * 5).astype(np.int64)
    st = []
    best = np.int64(0)
    for i in range(len(h) + 1):
        height = h[i] if i < len(h) else np.int64(-100)
        while st and h[st[-1]] >= height:
            top = h[st.pop()]
            best = max(best, top * (i if not st else i - st[-1] - 1))
        st.append(i)
    return best


def of_a_nested_function(x):
    def positive(a):
        out = []
        for v in a:
            if v > 0:
                out.append(v)
        return np.array(out)

    out = []
    for v in positive(x):
        out.append(v + 1)
        if len(out) > 5:
            break
    return np.array(out)


def given_away(x):
    out = []
    for v in x:
        out.append(v)
    before = np.asarray(out)
    before[0] += 1
    least = smallest(out)
    out.clear()
    for v in x:
        out.append(v * 10)
    out[1] = 77.0
    return before, np.array(out), least, sorted(out)[0], np.asarray(out)[1:3]


def named_as_its_array(x):
    out = []
    for v in x:
        out.append(v)
        k = len(out) % 3
        out[-k - 1] *= 1.5
    out = np.array(out)
    out -= out.mean()
    return out[::-1], out.sum()


def pythons_numbers(x):
    """They take on the dtype of what they meet, as no number of NumPy's of 64 bits does."""
    narrow = np.round(x * 4).astype(np.float32)
    places = [(0, 0.5)]
    ints = []
    for i in range(1, 6):
        places.append((i, 2.0 * i))
        ints.append(i)
    i, w = places.pop()
    made = narrow[i] * w + ints[-1]
    for k, w in places:
        made += narrow[k] * w
    for k in ints:
        made = made * k
    last = ints.pop()
    return made, i, last, ints[1] * narrow[0]


def numpys_numbers(x):
    narrow = x.astype(np.float32)
    some = [0]
    for k in range(5):
        some.append(np.int64(k))
    made = narrow[0] * some[-1]
    return made, some.pop()


def smallest(values):
    return min(values) * len(values)


def from_one_to_the_other(x):
    a = [x[0]]
    b = []
    for v in x:
        if v > 0 and len(a) > 1:
            b.append(a.pop())
        else:
            a.append(v)
    for i, v in enumerate(b):
        b[i] = v + i
    return np.array(a), np.array(b), np.array([u * v for u, v in zip(a, b)])


@pytest.mark.parametrize("f", [kept, all_appended, given_away, named_as_its_array,
                               pythons_numbers, numpys_numbers,
                               from_one_to_the_other, of_several_dtypes, widened,
                               popped_within_values, begun_again, largest_rectangle,
                               of_a_nested_function], ids=lambda f: f.__name__)
def test_lists(f):
    check_agreement(jit(f), f, lambda: (X,))


def test_a_stack_of_places():
    check_agreement(jit(filled), filled, lambda: (MASK, (3, 4)))


def test_nothing_appended():
    """The dtype is that of what would have been."""
    for target in ("interpreter", "serial", "parallel"):
        values, count, total = jit(kept)(-np.abs(X), target=target)
        assert (values.shape, values.dtype, count, total) == ((0,), np.float64, 0, 0)


def popped_too_often(x):
    out = []
    for v in x:
        out.append(v)
    while True:
        out.pop()


def read_beyond(x):
    out = []
    for v in x:
        out.append(v)
    return out[len(x)]


def stored_beyond(x):
    out = []
    for v in x:
        out.append(v)
    out[-1 - len(x)] = 1.0
    return out[0]


@pytest.mark.parametrize("f", [popped_too_often, read_beyond, stored_beyond],
                         ids=lambda f: f.__name__)
def test_errors(f):
    check_agreement(jit(f), f, lambda: (X,))


def held_twice(x):
    a = []
    b = a
    for v in x:
        a.append(v)
    return np.array(b)


def gone_through_as_it_grows(x):
    todo = [1]
    for v in todo:
        if len(todo) < len(x):
            todo.append(v + 1)
    return np.array(todo)


def numbered_as_it_grows(x):
    todo = [1]
    for k, v in enumerate(reversed(todo)):
        if k < 10:
            todo.append(v + 1)
    return np.array(todo)


def held_by_a_closure(x):
    out = []

    def add(v):
        out.append(v)

    for v in x:
        add(v)
    return np.array(out)


def lists_in_lists(x):
    rows = []
    for v in x:
        row = []
        row.append(v)
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("f", [held_twice, gone_through_as_it_grows, numbered_as_it_grows,
                               held_by_a_closure, lists_in_lists], ids=lambda f: f.__name__)
def test_what_an_array_would_not_follow_is_refused(f):
    with pytest.raises(parakeet.Limitation, match="use an array"):
        jit(f)(X)


def zeroed(values):
    values[0] = 0.0
    return 0


def stored_by_a_function(x):
    out = []
    for v in x:
        out.append(v)
    zeroed(out)
    return np.array(out)


def test_a_function_may_not_store_into_one():
    with pytest.raises(ValueError, match="read-only"):
        jit(stored_by_a_function)(X)


def rows_of_arrays(x):
    rows = []
    for row in x.reshape(-1, 4):
        rows.append(row)
    return np.array(rows)


def test_arrays_in_lists_are_refused():
    with pytest.raises(NotImplementedError, match="rows of one array"):
        jit(rows_of_arrays)(X)
