"""Arrays that stay on a device (agreement.py says which): what they show, and calls that take
them."""

import copy
import gc
import operator
import pickle
import weakref

import numpy as np
import pytest
from agreement import HERE, HERE_AS_TARGET, IS_EMULATED, OF_THE_EMULATED_GPU

import parakeet
from parakeet import _core, jit
from parakeet.errors import DeviceError
from parakeet.foreign_arrays import address_of
from parakeet.targets import number_of

ELSEWHERE = "gpu:0" if HERE == "gpu:1" else "gpu:1"


def there(x):
    return parakeet.to_gpu(x, HERE)


@pytest.fixture(autouse=True)
def memory_comes_back():
    before = parakeet.memory_info(HERE)
    yield
    gc.collect()
    after = parakeet.memory_info(HERE)
    assert (after.in_use, after.buffers) == (before.in_use, before.buffers)


@jit
def scaled(x, k):
    return x * k + 1


def table():
    return np.arange(12.0).reshape(3, 4)


# --- the arrays ---

@pytest.mark.parametrize("x", [
    table(), table().T, table()[:, ::2], table()[::-1], np.float32(3), np.zeros((0, 3)), [1, 2],
    np.broadcast_to(2, (2, 3)), *(np.arange(5).astype(dtype) for dtype in "?bBhHiIlLqQefdFD"),
], ids=lambda x: f"{np.asarray(x).dtype}{np.shape(x)}")
def test_up_and_down_again(x):
    x, moved = np.asarray(x), there(x)
    assert (moved.shape, moved.dtype, moved.ndim) == (x.shape, x.dtype, x.ndim)
    assert (moved.size, moved.nbytes, moved.itemsize) == (x.size, x.nbytes, x.itemsize)
    assert moved.device == HERE
    for host in (moved.to_host(), np.asarray(moved), parakeet.asarray(moved), np.array(moved)):
        np.testing.assert_array_equal(host, x, strict=True)
    assert type(moved.to_host()) is np.ndarray and moved.to_host().flags.writeable


@pytest.mark.parametrize("index", [
    1, -1, np.int64(2), slice(1, None), slice(None, None, -2), ..., None, (1, 2), (..., 1),
    (slice(None), slice(3, 0, -1)), (None, 1, ..., None), (slice(5, 9),), (),
], ids=repr)
def test_views_are_numpys(index):
    x = table()
    moved = there(x)
    expected, view = x[index], moved[index]
    assert view.shape == np.shape(expected) and view.dtype == x.dtype
    if np.ndim(expected):
        assert view.strides == expected.strides
    np.testing.assert_array_equal(view.to_host(), expected)
    np.testing.assert_array_equal(view.T.to_host(), np.transpose(expected))


def test_a_view_keeps_the_memory():
    view = there(table())[1:][::-1]
    gc.collect()
    np.testing.assert_array_equal(view.to_host(), table()[1:][::-1])
    reference = weakref.ref(view)
    del view
    assert reference() is None


def test_what_is_shown():
    moved = there(np.arange(3.0))
    assert repr(moved) == f"DeviceArray([0., 1., 2.], dtype=float64, device={HERE!r})"
    none = f"DeviceArray([], shape=(0, 2), dtype=int64, device={HERE!r})"
    assert repr(there(np.zeros((0, 2), np.int64))) == none
    assert len(moved) == 3 and [float(x) for x in moved] == [0.0, 1.0, 2.0]
    assert int(moved[2]) == 2 and bool(moved[1]) and complex(moved[2]) == 2
    with pytest.raises(TypeError, match="without axes"):
        len(moved[0])


@pytest.mark.parametrize("operate", [
    lambda x: x + 1, lambda x: 1 - x, lambda x: np.arange(3.0) * x, lambda x: x @ x, lambda x: -x,
    lambda x: abs(x), lambda x: x < 2, lambda x: x == x, lambda x: x.__setitem__(0, 1.0),
    lambda x: x.__iadd__(1), np.sin, lambda x: np.add(1, x), np.mean,
    lambda x: np.concatenate([x, x]), lambda x: np.where(True, x, 0),
    lambda x: np.array_equal(x, x),
    lambda x: x.__delitem__(0), lambda x: divmod(x, 2), round, lambda x: 1.0 in x,
])
def test_operators_point_at_jit(operate):
    with pytest.raises(TypeError, match=r"no .* of their own: .*parakeet\.jit"):
        operate(there(np.arange(3.0)))


def test_methods_of_numpys_point_at_jit():
    x = there(np.arange(3.0))
    for name in ("sum", "astype", "flat", "fill"):
        with pytest.raises(AttributeError, match=rf"no {name} of their own: .*parakeet\.jit"):
            getattr(x, name)
    with pytest.raises(AttributeError, match="no attribute 'sums'"):
        x.sums
    assert not hasattr(x, "__array_interface__")
    assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 0)) == ((3,), 1, 3, 3)


def test_one_element_is_a_number():
    x = there(np.array([[2.5]]))
    assert (float(x[0, 0]), int(x[0, 0]), x.item(), x.tolist()) == (2.5, 2, 2.5, [[2.5]])
    assert [1, 2, 3][there(np.array([0, 1]))[1]] == 2
    before = parakeet.memory_info(HERE).down
    for x in (there(np.ones(2)), there(np.ones((0, 3)))):
        for convert in (int, float, complex):
            with pytest.raises(TypeError, match="length-1|0-dimensional"):
                convert(x)
        with pytest.raises(ValueError, match="item"):
            x.item()
    with pytest.raises(ValueError, match="ambiguous"):
        bool(there(np.ones(2)))
    for x in (there(np.arange(2)), there(np.float64(1))):
        with pytest.raises(TypeError):
            operator.index(x)
    assert parakeet.memory_info(HERE).down == before


def test_copies_and_pickles():
    x = there(table())
    view = x[1:, ::-1]
    for copied in (copy.copy(view), copy.deepcopy(view), view.copy(),
                   pickle.loads(pickle.dumps(view))):  # fmt: skip
        assert type(copied) is parakeet.DeviceArray and copied.device == HERE
        np.testing.assert_array_equal(copied.to_host(), table()[1:, ::-1], strict=True)
        doubled_in_place_of(copied)
        np.testing.assert_array_equal(x.to_host(), table())
    before = parakeet.memory_info(HERE).down
    view.copy()
    assert parakeet.memory_info(HERE).down == before
    assert x[0, 1].copy().item() == 1.0
    table_of_views = copy.deepcopy({"a": [x]})
    assert table_of_views["a"][0] is not x


def doubled_in_place_of(x):
    jit(doubled_in_place)(x)


def test_reshaping_is_a_view():
    x = there(table())
    for shape in ((4, 3), (-1,), (2, 1, 6)):
        np.testing.assert_array_equal(x.reshape(shape).to_host(), table().reshape(shape))
    doubled_in_place_of(x.reshape(2, -1)[1])
    np.testing.assert_array_equal(x.to_host().ravel()[6:], table().ravel()[6:] * 2)
    with pytest.raises(ValueError, match="cannot reshape"):
        x.reshape(5)
    with pytest.raises(ValueError, match="C order"):
        x.T.reshape(12)


def test_what_is_refused():
    moved = there(table())
    for index in ([0, 1], np.array([0]), moved, True, "x", 1.5, (0, [1])):
        with pytest.raises(TypeError, match="indexed by integers and slices"):
            moved[index]
    with pytest.raises(IndexError):
        moved[3]
    for x in (np.array(["a"]), np.arange(3.0).astype(">f8"), np.zeros(2, np.longdouble), object()):
        with pytest.raises(TypeError, match="cannot be on a device"):
            there(x)
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(moved, copy=False)
    with pytest.raises(ValueError, match="is no device"):
        parakeet.to_gpu(table(), "serial")
    with pytest.raises(DeviceError):
        parakeet.to_gpu(table(), "gpu:999")
    assert hasattr(moved, "__cuda_array_interface__") != IS_EMULATED


def test_asarray_copies_only_where_it_must():
    moved = there(table())
    assert parakeet.asarray(moved, HERE) is moved
    assert isinstance(parakeet.asarray([1, 2], HERE), parakeet.DeviceArray)
    x = table()
    assert parakeet.asarray(x) is x


# --- calls ---

def test_a_call_runs_where_its_arrays_are():
    f = jit(lambda x, k: x * k + 1)
    result = f(there(table()), 2.0)
    assert isinstance(result, parakeet.DeviceArray)
    np.testing.assert_array_equal(result.to_host(), table() * 2 + 1)
    assert f.signatures == [f"{HERE_AS_TARGET} (float64[:, :], float)"]
    mixed = f(there(table()), np.arange(4.0))
    np.testing.assert_array_equal(mixed.to_host(), table() * np.arange(4.0) + 1)
    assert HERE_AS_TARGET in str(f.explain(there(table()), 2.0))


def test_a_target_that_is_said_wins():
    moved = there(table())
    expected = table() * 2 + 1
    calls = [lambda: scaled(moved, 2.0, target="serial"), lambda: scaled(moved, k=2.0, target="c"),
             lambda: scaled(moved, 2.0, target="interpreter"),
             lambda: jit(lambda x, k: x * k + 1, target="parallel")(moved, 2.0)]
    for call in calls:
        np.testing.assert_array_equal(call(), expected, strict=True)
    with parakeet.target("parallel"):
        np.testing.assert_array_equal(scaled(moved, 2.0), expected, strict=True)
    assert isinstance(scaled(moved, 2.0, target=HERE), parakeet.DeviceArray)
    assert scaled(moved[1, 2], 2.0, target="serial") == 13.0
    with pytest.raises(DeviceError):
        scaled(moved, 2.0, target="gpu:999")


def doubled_in_place(x):
    x *= 2
    return x


def test_plain_python_gets_arrays_of_the_host():
    @jit
    def summed(pair, k, other=0.0):
        x, rows = pair
        x[1:] += k
        return x @ np.ones(x.shape[1]) + other, [row.sum() for row in rows], type(x) is np.ndarray

    def arguments():
        return (there(table())[:, ::-1], [there(np.arange(3.0)), np.arange(2)]), 2.0

    pair, k = arguments()
    moved = there(np.ones(3))
    sums, rows, is_numpys = summed(pair, k, other=moved, target="python")
    assert is_numpys and sums.tolist() == [7, 31, 47] and rows == [3.0, 1]
    np.testing.assert_array_equal(pair[0].to_host(), table()[:, ::-1] + [[0], [2], [2]])
    assert type(moved) is parakeet.DeviceArray
    with parakeet.target("python"):
        again, _, is_numpys = summed(*arguments())
    assert is_numpys and again.tolist() == [6, 30, 46]
    base = there(np.arange(6.0))
    shifted_into = jit(lambda x, y: x.__setitem__(slice(None), y + 1))
    shifted_into(base[1:], base[:-1], target="python")
    assert base.to_host().tolist() == [0, 1, 2, 3, 4, 5]
    assert parakeet.map(lambda v: v + 1, there(np.arange(3)), target="python").tolist() == [1, 2, 3]


def test_a_disabled_jit_takes_device_arrays(monkeypatch):
    monkeypatch.setattr(parakeet.config, "disable_jit", True)
    moved = there(table())
    np.testing.assert_array_equal(scaled(moved, 2.0), table() * 2 + 1, strict=True)
    assert jit(doubled_in_place)(moved).tolist() == (table() * 2).tolist()
    np.testing.assert_array_equal(moved.to_host(), table() * 2)


def test_targets_are_compared_on_device_arrays(capsys):
    def stored(x, rows):
        x *= 2
        return x + 1, rows[0] + rows[1]

    moved = there(table())
    rows = [there(np.ones(3)), np.ones(3)]
    found = parakeet.compare(stored, moved, rows, targets=("serial", "parallel", HERE, "python"))
    assert [row.name for row in found][1:] == ["serial", "parallel", HERE, "python"]
    assert all(row.agrees and row.difference == 0 for row in found[1:]), found
    np.testing.assert_array_equal(moved.to_host(), table())  # each had copies


@pytest.mark.parametrize("of", [list, tuple])
def test_a_list_of_device_arrays_is_one_there(of):
    f = jit(lambda x, k: np.asarray(x) * k if k else x)
    rows = [there(table()[i]) for i in range(3)]
    values = of([of(rows), of([table()[0], there(table()[1]), [1.0, 2, 3, 4]])])
    before = parakeet.memory_info(HERE).down
    calls = [(rows, table()), ([x[::-1] for x in rows], table()[:, ::-1]),
             ([rows[0], np.arange(4)], np.array([table()[0], np.arange(4.0)])),
             ([rows[0][1], rows[1][2], 5], np.array([1.0, 6.0, 5.0])),
             ([there(np.arange(2)), there(np.ones(2, np.float32))], np.array([[0, 1], [1, 1.0]])),
             ([there(np.zeros((0, 3)))], np.zeros((1, 0, 3)))]  # fmt: skip
    if of is list:
        calls.append((values, np.array([table(), [table()[0], table()[1], [1, 2, 3, 4]]])))
    for x, expected in calls:
        result = f(x, 2)
        assert type(result) is parakeet.DeviceArray and result.device == HERE
        assert parakeet.memory_info(HERE).down == before
        np.testing.assert_array_equal(result.to_host(), expected * 2, strict=True)
        before = parakeet.memory_info(HERE).down
    assert f(rows, 0) is rows and all(text.startswith(HERE_AS_TARGET) for text in f.signatures)
    assert HERE_AS_TARGET in str(f.explain(rows, 2))
    np.testing.assert_array_equal(f(rows, 2, target="serial"), table() * 2, strict=True)
    pair = jit(lambda pair: pair[0][0] + pair[1])((rows, there(np.ones(4))))
    assert pair.to_host().tolist() == [1, 2, 3, 4]


def test_lists_of_device_arrays_that_are_no_array():
    f = jit(lambda x: x)
    with pytest.raises(TypeError, match="a list that is no array of numbers as parameter 'x'"):
        f([there(np.ones(2)), there(np.ones(3))])
    with pytest.raises(TypeError, match="a list that is no array of numbers as parameter 'x'"):
        f([there(np.ones(2)), "ab"])
    here = there(table())
    elsewhere = parakeet.DeviceArray(here._addresses, number_of(ELSEWHERE))
    with pytest.raises(ValueError, match=rf"on {ELSEWHERE} .* of a call on {HERE}; .*asarray"):
        f([here, elsewhere])
    parakeet.set_memory_limit(parakeet.memory_info(HERE).in_use + 100, HERE)
    try:
        with pytest.raises(MemoryError, match="cannot allocate 192 bytes"):
            f([here, here])
    finally:
        parakeet.set_memory_limit(None, HERE)


@pytest.mark.parametrize("target", [None, HERE, "serial"])
@pytest.mark.parametrize("index", [..., 1, (slice(None), 2), (slice(None, None, -2), slice(1, 3))],
                         ids=repr)
def test_what_is_stored_is_on_the_device(target, index):
    moved, expected = there(table()), table()
    result = jit(doubled_in_place)(moved[index], target=target)
    doubled_in_place(expected[index])
    np.testing.assert_array_equal(moved.to_host(), expected)
    np.testing.assert_array_equal(np.asarray(result), expected[index])


def test_stores_before_an_error_are_kept():
    @jit
    def filled(x, n):
        for i in range(n):
            x[i] = 5
        return 0

    for target in (None, "serial"):
        moved = there(np.zeros(3))
        with pytest.raises(IndexError, match="index 3 is out of bounds"):
            filled(moved, 9, target=target)
        assert moved.to_host().tolist() == [5, 5, 5]


def test_results_share_memory_as_they_do_on_the_host():
    @jit
    def parts(x, y):
        x[0] = -1
        made = x + 1
        return x, x[1:], made, made[::-1], made, (y, y[1:], x.sum())

    x, y = there(np.arange(5.0)), np.arange(4)
    same, tail, made, back, again, (host, view, total) = parts(x, y)
    assert same is x and made is again and host is y and np.shares_memory(view, y)
    assert isinstance(total, parakeet.DeviceArray) and total == 9.0
    jit(doubled_in_place)(tail), jit(doubled_in_place)(made)
    assert x.to_host().tolist() == [-1, 2, 4, 6, 8]
    assert back.to_host().tolist() == [10, 8, 6, 4, 0]


def test_arrays_that_share_memory():
    @jit
    def shifted(x, y):
        for i in range(len(x)):
            x[i] = y[i] + 1
        return x

    base = there(np.zeros(6))
    shifted(base[1:], base[:-1])
    assert base.to_host().tolist() == [0, 1, 2, 3, 4, 5]


def test_arrays_in_tuples_and_of_no_elements():
    @jit
    def both(pair, k):
        x, y = pair
        return x + y * k

    result = both((there(np.arange(3)), np.arange(3)), 2)
    assert isinstance(result, parakeet.DeviceArray) and result.to_host().tolist() == [0, 3, 6]
    assert both((there(np.arange(3)), 1), 2, target="serial").tolist() == [2, 3, 4]
    empty = scaled(there(np.zeros((0, 3))), 2.0)
    assert empty.shape == (0, 3) and empty.to_host().shape == (0, 3)


def test_a_loop_leaves_no_memory_behind():
    x = there(np.ones(1000))
    before = parakeet.memory_info(HERE)
    for _ in range(50):
        x = scaled(x, 1.0)
    after = parakeet.memory_info(HERE)
    assert (after.in_use, after.buffers) == (before.in_use, before.buffers)
    assert x.to_host()[0] == 51.0


def test_thousands_of_calls_leave_no_memory_behind():
    """Nor do those among them that fail, by an error of theirs or for memory."""

    @jit
    def picked(x, i):
        y = x * 2
        return y[i] + y

    x, i, bad = np.ones(100), np.arange(100), np.full(100, 100)
    on_device, at = there(x), there(i)
    picked(x, i, target=HERE), picked(on_device, at)
    with pytest.raises(IndexError):
        picked(x, bad, target=HERE)
    before, on_host = parakeet.memory_info(HERE), parakeet.cache_info()["live_buffers"]
    for k in range(1000):
        picked(x, i, target=HERE)
        picked(on_device, at)
        with pytest.raises(IndexError):
            picked(on_device, bad) if k % 2 else picked(x, bad, target=HERE)
        if k % 10 == 0:
            parakeet.set_memory_limit(parakeet.memory_info(HERE).in_use + 100, HERE)
            with pytest.raises(MemoryError):
                picked(on_device, at)
            parakeet.set_memory_limit(None, HERE)
    after = parakeet.memory_info(HERE)
    assert (after.in_use, after.buffers) == (before.in_use, before.buffers)
    assert after.peak <= max(before.peak, before.in_use + 100_000)
    assert after.launches - before.launches >= 3 * 1000
    assert parakeet.cache_info()["live_buffers"] == on_host


def test_memory_over_the_limit():
    parakeet.set_memory_limit(10_000, HERE)
    try:
        message = (rf"cannot allocate 16000 bytes on {HERE}, where \d+ bytes are in use, "
                   "of a limit of 10000")  # fmt: skip
        with pytest.raises(MemoryError, match=message):
            there(np.ones(2000))
        x = there(np.ones(1000))
        with pytest.raises(MemoryError):
            scaled(x, 2.0)
        assert scaled(x[:10], 2.0).to_host().tolist() == [3.0] * 10
    finally:
        parakeet.set_memory_limit(None, HERE)


def test_arrays_on_several_devices_are_refused():
    here = there(table())
    elsewhere = parakeet.DeviceArray(here._addresses, number_of(ELSEWHERE))
    for call in (lambda: scaled(here, elsewhere), lambda: scaled(elsewhere, 2.0, target=HERE)):
        with pytest.raises(ValueError, match=rf"on {ELSEWHERE} .* of a call on {HERE}; .*asarray"):
            call()


def test_memory_by_line(monkeypatch):
    def lines():
        return {place.rpartition(":")[2]: tuple(held)
                for place, held in parakeet.memory_info(HERE).lines.items()
                if place.startswith(__file__)}  # fmt: skip

    uncounted = there(table())
    assert not lines()
    monkeypatch.setattr(parakeet.config, "memory_lines", True)
    first = test_memory_by_line.__code__.co_firstlineno
    x = there(np.ones(100))  # moved by another line
    y = [scaled(x, 2.0) for _ in range(3)]
    z = scaled(x[:10], 1.0); w = scaled(x[:20], 1.0)  # noqa: E702
    views = w[3:], w.T, jit(lambda x: x[1:])(w)
    up, results, two = there.__code__.co_firstlineno + 1, first + 11, first + 12
    assert lines() == {str(up): (800, 1), str(results): (2400, 3), str(two): (240, 2)}
    assert list(lines()) == [str(results), str(up), str(two)]
    assert f"{__file__}:{results}: 2,400 bytes, 3 buffers" in str(parakeet.memory_info(HERE))
    del y[0], z, w, uncounted
    assert lines() == {str(up): (800, 1), str(results): (1600, 2), str(two): (160, 1)}
    monkeypatch.setattr(parakeet.config, "memory_lines", False)
    unseen = scaled(x, 2.0)
    del views, x, y
    assert not lines() and len(unseen) == 100


# --- other libraries ---

def test_dlpack_says_what_the_memory_holds():
    moved = there(table())
    addresses = moved._addresses[1:, ::-2]
    assert moved.__dlpack_device__() == ((1, 0) if IS_EMULATED else (2, number_of(HERE) >> 8))
    for max_version in (None, (0, 8), (1, 0), (1, 1)):
        capsule = moved[1:, ::-2].__dlpack__(max_version=max_version)
        _, *device, address, shape, strides, text, is_read_only = _core.dlpack_import(capsule)
        assert (*device,) == moved.__dlpack_device__() and address == address_of(addresses)
        assert (shape, strides, text) == (addresses.shape, addresses.strides, "=f8")
        assert not is_read_only
        moved.__dlpack__(max_version=max_version)  # that nobody takes
    with pytest.raises(BufferError):
        moved.__dlpack__(dl_device=(4, 0))  # OpenCL's


def test_dlpack_gives_copies_that_are_asked_for():
    moved = there(table())
    for view in (moved[1:, ::-2], moved.T, moved[:0], moved[1, 2]):
        for max_version in (None, (1, 0)):
            capsule = view.__dlpack__(copy=True, max_version=max_version)
            _, *device, address, shape, _, text, is_read_only = _core.dlpack_import(capsule)
            assert (*device,) == moved.__dlpack_device__() and (shape, text) == (view.shape, "=f8")
            assert address != address_of(view._addresses) or view.size == 0
            assert not is_read_only
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        host = np.from_dlpack(moved[1:, ::-2], device="cpu", copy=True)
        np.testing.assert_array_equal(host, table()[1:, ::-2])
        host[...] = 0
    np.testing.assert_array_equal(moved.to_host(), table())
    if not IS_EMULATED:
        with pytest.raises(BufferError, match="by a copy only"):
            moved.__dlpack__(dl_device=(1, 0), copy=False)


def test_streams_that_dlpack_permits():
    moved = there(table())
    theirs = () if IS_EMULATED else (1, 2, _core.device_stream(moved._number))
    for stream in (None, -1, *theirs):
        moved.__dlpack__(stream=stream)
    for stream in (0, -2, 1) if IS_EMULATED else (0, -2):
        with pytest.raises(ValueError, match="stream"):
            moved.__dlpack__(stream=stream)
    for stream in ("0", 1.0, True):
        with pytest.raises(TypeError, match="a stream is None or an integer"):
            moved.__dlpack__(stream=stream)


@pytest.mark.skipif(IS_EMULATED, reason="no CUDA device")
def test_the_interface_of_cuda_says_what_the_memory_holds():
    view = there(table())[1:, ::-2]
    interface = view.__cuda_array_interface__
    assert interface["data"] == (address_of(view._addresses), False)
    assert (interface["shape"], interface["strides"]) == (view.shape, view.strides)
    assert interface["typestr"] == "<f8" and interface["stream"] not in (None, 0)
    assert there(table()).__cuda_array_interface__["strides"] is None


@pytest.mark.skipif(not IS_EMULATED, reason=OF_THE_EMULATED_GPU)
def test_dlpack_gives_the_memory_itself():
    moved = there(table())
    view = np.from_dlpack(moved[1:, ::-2])
    np.testing.assert_array_equal(view, table()[1:, ::-2])
    jit(doubled_in_place)(moved)
    np.testing.assert_array_equal(view, table()[1:, ::-2] * 2)
    del moved
    gc.collect()
    np.testing.assert_array_equal(view, table()[1:, ::-2] * 2)
    for dtype in "?bBhHiIlLefdFD":
        x = np.arange(5).astype(dtype)
        np.testing.assert_array_equal(np.from_dlpack(there(x)), x, strict=True)
    written = there(table())
    np.from_dlpack(written)[0, 0] = 50
    assert written[0, 0].item() == 50


def test_dlpack_tensors_are_taken_apart():
    x = table()[::2, ::-1]
    _, kind, device, address, *rest = _core.dlpack_import(x.__dlpack__())
    assert (kind, device, *rest) == (1, 0, (2, 4), x.strides, "=f8", False)
    assert address == x.__array_interface__["data"][0]
    capsule = table().__dlpack__()
    assert _core.dlpack_import(capsule)[6] == "=f8"
    with pytest.raises(ValueError):
        _core.dlpack_import(capsule)  # taken already


def test_captured_ones_are_refused():
    """Code of the host would take their addresses for its own."""
    outside = (np.arange(3.0), 1)

    @jit
    def f(x):
        return x + outside[0]

    np.testing.assert_array_equal(f(np.ones(3)), [1, 2, 3])
    outside = (there(np.arange(3.0)), 1)
    for target in ("serial", HERE):
        with pytest.raises(TypeError):
            f(np.ones(3), target=target)
    alone = there(np.arange(3.0))
    with pytest.raises(TypeError, match="'alone' is an array on a device, .* pass it"):
        jit(lambda x: x + alone)(np.ones(3), target=HERE)
