"""Other libraries' arrays on a device (agreement.py says which) as arguments: objects that have the
protocols of CuPy, PyTorch and JAX, over memory of that device."""

import gc

import numpy as np
import pytest
from agreement import HERE, HERE_AS_TARGET, IS_EMULATED

import parakeet
from parakeet import _core, foreign_arrays, jit
from parakeet.errors import DeviceError
from parakeet.targets import number_of

# A stream that another library works on: the emulated GPU takes any number, a real one those that
# there are, as the legacy default stream always is.
STREAM = 7 if IS_EMULATED else 1


class OfInterface:
    """As CuPy's: `__cuda_array_interface__`, with a stream."""

    def __init__(self, x, stream=STREAM, is_read_only=False, index=...):
        self.memory = parakeet.to_gpu(x, HERE)
        self.view, self.stream, self.is_read_only = self.memory[index], stream, is_read_only
        self.reads = 0

    @property
    def __cuda_array_interface__(self):
        self.reads += 1
        addresses = self.view._addresses
        return {
            "version": 3, "shape": addresses.shape, "typestr": addresses.dtype.str,
            "strides": None if addresses.flags.c_contiguous else addresses.strides,
            "data": (addresses.__array_interface__["data"][0], self.is_read_only),
            "stream": self.stream,
        }  # fmt: skip

    def host(self):
        return self.memory.to_host()


class OfTensor:
    """As tensors: `__dlpack__`, of the kind that takes no version."""

    def __init__(self, x, index=...):
        self.memory = parakeet.to_gpu(x, HERE)
        self.view = self.memory[index]

    def __dlpack_device__(self):
        return self.view.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.view.__dlpack__(stream=stream)

    def host(self):
        return self.memory.to_host()


class OfVersionedTensor(OfTensor):
    """Of the kind that says whether it may be written."""

    def __dlpack__(self, *, max_version, stream=None):
        assert max_version == (1, 0)
        addresses = self.view._addresses.view()
        addresses.flags.writeable = False
        x = parakeet.DeviceArray(addresses, self.view._number)
        return x.__dlpack__(max_version=max_version, stream=stream)


WRITABLE = [OfInterface, OfTensor]
ALL = [*WRITABLE, OfVersionedTensor]


@pytest.fixture(autouse=True)
def memory_comes_back():
    before = parakeet.memory_info(HERE)
    yield
    gc.collect()
    after = parakeet.memory_info(HERE)
    assert (after.in_use, after.buffers) == (before.in_use, before.buffers)


def table():
    return np.arange(12.0).reshape(3, 4)


@jit
def scaled(x, k):
    return x * k + 1


@jit
def doubled_in_place(x):
    x *= 2
    return x


# --- calls ---

@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("index", [..., 1, (slice(None, None, -2), slice(1, 3)), slice(3, 3)],
                         ids=repr)
def test_a_call_runs_where_its_arrays_are(kind, index):
    f = jit(lambda x, k: x * k + 1)
    result = f(kind(table(), index=index), 2.0)
    assert type(result) is parakeet.DeviceArray and result.device == HERE
    np.testing.assert_array_equal(result.to_host(), table()[index] * 2 + 1)
    again = f(k=2.0, x=kind(table(), index=index))
    np.testing.assert_array_equal(again.to_host(), table()[index] * 2 + 1)
    assert len(f.signatures) == 1 and f.signatures[0].startswith(HERE_AS_TARGET)


@pytest.mark.parametrize("kind", ALL)
def test_a_target_that_is_said_wins(kind):
    x, expected = kind(table()), table() * 2 + 1
    calls = [lambda: scaled(x, 2.0, target="serial"),
             lambda: scaled(x, k=2.0, target="interpreter"),
             lambda: jit(lambda x, k: x * k + 1, target="parallel")(x, 2.0)]
    for call in calls:
        np.testing.assert_array_equal(call(), expected, strict=True)
    with parakeet.target("parallel"):
        np.testing.assert_array_equal(scaled(x, 2.0), expected, strict=True)
    assert isinstance(scaled(x, 2.0, target=HERE), parakeet.DeviceArray)
    with pytest.raises(DeviceError):
        scaled(x, 2.0, target="gpu:999")
    with pytest.raises(ValueError, match="no target"):
        scaled(x, 2.0, target="nowhere")


@pytest.mark.parametrize("kind", WRITABLE)
@pytest.mark.parametrize("target", [None, HERE, "serial"])
def test_what_is_stored_is_in_the_others_memory(kind, target):
    x, expected = kind(table(), index=(slice(None, None, 2), slice(None, None, -1))), table()
    result = doubled_in_place(x, target=target)
    expected[::2] *= 2
    np.testing.assert_array_equal(x.host(), expected)
    if target != "serial":
        assert result is x
    else:
        np.testing.assert_array_equal(result, expected[::2, ::-1])


@pytest.mark.parametrize("x", [lambda: OfInterface(table(), is_read_only=True),
                               lambda: OfVersionedTensor(table())])
def test_a_store_into_what_is_read_only(x):
    x = x()
    for target in (None, "serial"):
        with pytest.raises(ValueError, match="read-only"):
            doubled_in_place(x, target=target)
    np.testing.assert_array_equal(x.host(), table())
    view = jit(lambda x: x[1:])(x)
    with pytest.raises(ValueError, match="read-only"):
        doubled_in_place(view)
    with pytest.raises(BufferError, match="read-only"):
        view.__dlpack__()
    np.testing.assert_array_equal(view.to_host(), table()[1:])
    assert _core.dlpack_import(view.__dlpack__(max_version=(1, 0)))[-1]  # is read-only


def test_errors_keep_what_was_stored():
    @jit
    def filled(x, n):
        for i in range(n):
            x[i] = 5
        return 0

    for kind in WRITABLE:
        x = kind(np.zeros(3))
        with pytest.raises(IndexError, match="index 3 is out of bounds"):
            filled(x, 9)
        assert x.host().tolist() == [5, 5, 5]


@pytest.mark.parametrize("kind", ALL)
def test_the_other_librarys_array_lives_as_long_as_its_views(kind):
    before = parakeet.memory_info(HERE).buffers
    x = kind(table())
    view = jit(lambda x: x[1:, ::2])(x)
    view = view[0].T[None]
    del x
    gc.collect()
    assert parakeet.memory_info(HERE).buffers == before + 1
    np.testing.assert_array_equal(view.to_host(), table()[1:, ::2][0][None])
    del view
    gc.collect()
    assert parakeet.memory_info(HERE).buffers == before


def test_results_share_memory_as_they_do_on_the_host():
    @jit
    def parts(x, y, z):
        x[0] = -1
        return x, x[1:], x + y, (y, z)

    x, y, z = OfInterface(np.arange(5.0)), np.arange(5.0), parakeet.to_gpu(np.ones(2), HERE)
    same, tail, made, (host, ours) = parts(x, y, z)
    assert same is x and host is y and ours is z
    doubled_in_place(tail)
    assert x.host().tolist() == [-1, 2, 4, 6, 8]
    assert made.to_host().tolist() == [-1, 2, 4, 6, 8]


def test_arrays_in_tuples_and_kinds_together():
    @jit
    def both(pair, z, k):
        x, y = pair
        return x + y * k + z

    x, y, z = OfInterface(np.arange(3)), OfTensor(np.arange(3)), parakeet.to_gpu([1, 1, 1], HERE)
    assert both((x, y), z, 2).to_host().tolist() == [1, 4, 7]
    assert both((x, 1), np.ones(3), 2).to_host().tolist() == [3, 4, 5]
    assert both((x, y), z, 2, target="serial").tolist() == [1, 4, 7]


@pytest.mark.parametrize("kind", ALL)
def test_lists_of_them_are_one_array_there(kind):
    f = jit(lambda x, k: np.asarray(x) * k)
    result = f([kind(np.arange(3.0)), kind(np.ones(3))], 2)
    assert type(result) is parakeet.DeviceArray and result.device == HERE
    assert result.to_host().tolist() == [[0, 2, 4], [2, 2, 2]]
    result = f([kind(np.arange(3.0)), np.ones(3)], 2, target="serial")
    assert type(result) is np.ndarray and result.tolist() == [[0, 2, 4], [2, 2, 2]]


def test_of_an_interface_that_has_tensors_too_the_one_with_the_stream_is_taken():
    class Both(OfInterface, OfTensor):
        exports = 0

        def __dlpack__(self, stream=None):
            self.exports += 1
            return super().__dlpack__(stream=stream)

    for stream, exports in ((STREAM, 0), (None, 1)):
        x = Both(table(), stream=stream)
        np.testing.assert_array_equal(scaled(x, 2.0).to_host(), table() * 2 + 1)
        assert (x.reads, x.exports) == (1, exports)


def test_a_tensor_that_wants_its_device_to_be_the_current_one():
    """PyTorch's refuse otherwise; what refuses there too is refused."""

    class Choosy:
        def __init__(self, refusals):
            self.refusals = refusals

        def __dlpack__(self, stream=None):
            self.refusals -= 1
            if self.refusals >= 0:
                raise BufferError("another device is the current one")
            return stream

    def exported(x):
        return foreign_arrays._exported_there(x, foreign_arrays._protocols_of(Choosy), there)

    there = number_of(HERE)
    for refusals in (0, 1):
        assert exported(Choosy(refusals)) == _core.device_stream(there)
    with pytest.raises(BufferError, match="another device"):
        exported(Choosy(2))


def test_an_interface_of_an_instance_alone_is_seen():
    class Plain:
        pass

    x, memory = Plain(), OfInterface(table())
    with pytest.raises(TypeError, match="unsupported operand"):
        scaled(x, 2.0)
    x.__cuda_array_interface__ = memory.__cuda_array_interface__
    np.testing.assert_array_equal(scaled(x, 2.0).to_host(), table() * 2 + 1)
    np.testing.assert_array_equal(parakeet.asarray(x, HERE).to_host(), table())
    assert doubled_in_place(x) is x
    np.testing.assert_array_equal(memory.host(), table() * 2)


def test_every_dtype_and_no_elements():
    f = jit(lambda x: x)
    for kind in ALL:
        for dtype in "?bBhHiIlLefdFD":
            x = kind(np.arange(5).astype(dtype), index=slice(1, None))
            taken = parakeet.asarray(x, HERE)
            np.testing.assert_array_equal(taken.to_host(), np.arange(1, 5).astype(dtype),
                                          strict=True)
            if dtype in "?fd":
                assert f(x) is x
    empty = scaled(OfInterface(np.zeros((0, 3))), 2.0)
    assert empty.shape == (0, 3)


def test_what_shows_a_call_takes_them_too():
    x = OfInterface(table())
    assert HERE_AS_TARGET in str(scaled.explain(x, 2.0))
    assert scaled.ir(x, 2.0) == scaled.ir(parakeet.to_gpu(table(), HERE), 2.0)
    f = jit(lambda x: x + 1)
    f.compile(x, target=HERE)
    assert f.signatures == [f"{HERE_AS_TARGET} (float64[:, :])"]


# --- what is not taken ---

class OfHost:
    """As a tensor of the host."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)

    def __array__(self, dtype=None, copy=None):
        return self.x


def test_what_is_on_the_host_is_refused_with_the_conversion():
    x = OfHost(table())
    calls = [lambda: scaled(x, 2.0), lambda: scaled(x, 2.0, target="serial"),
             lambda: scaled(OfInterface(table()), x), lambda: scaled(x, OfInterface(table())),
             lambda: scaled(x, 2.0, target=HERE), lambda: scaled.ir(x, 2.0)]
    for call in calls:
        with pytest.raises(TypeError, match=r"OfHost as parameter '\w'; pass np\.asarray\("):
            call()


def test_what_is_elsewhere_is_refused():
    class Elsewhere(OfHost):
        def __dlpack_device__(self):
            return 10, 0  # AMD's

    with pytest.raises(TypeError, match="Elsewhere"):
        scaled(Elsewhere(table()), 2.0)

    class There(OfHost):
        def __dlpack_device__(self):
            return 2, 999

    with pytest.raises(DeviceError, match="gpu:999"):
        scaled(There(table()), 2.0)


def test_elements_of_no_type_of_ours_are_refused():
    class Half(OfInterface):
        @property
        def __cuda_array_interface__(self):
            return {**super().__cuda_array_interface__, "typestr": "<V2"}

    with pytest.raises(TypeError, match="cannot be on a device"):
        scaled(Half(table()), 2.0)

    class Masked(OfInterface):
        @property
        def __cuda_array_interface__(self):
            return {**super().__cuda_array_interface__, "mask": self}

    with pytest.raises(TypeError, match="mask"):
        scaled(Masked(table()), 2.0)


def test_what_another_library_raises_is_raised():
    class Refusing(OfTensor):
        def __dlpack__(self, stream=None):
            raise BufferError("cannot export tensors that require gradient")

    with pytest.raises(BufferError, match="require gradient"):
        scaled(Refusing(table()), 2.0)
    np.testing.assert_array_equal(scaled(OfTensor(table()), 2.0).to_host(), table() * 2 + 1)


# --- streams ---

def test_streams_are_waited_for_and_wait(monkeypatch):
    """Of a call, the orders that are asked for; what the driver does: cuda_device_test."""
    ordered = []
    real = foreign_arrays._core.device_order
    monkeypatch.setattr(foreign_arrays._core, "device_order",
                        lambda *order: (ordered.append(order[1:]), real(*order)))
    x = OfInterface(table())
    scaled(x, 2.0)
    assert ordered == [(False, STREAM)]  # before; _core itself is asked for what comes behind
    taken = parakeet.asarray(x, HERE)
    assert taken._stream == taken[1:]._stream == taken.T._stream == STREAM
    assert jit(lambda x: x[1:])(taken)._stream == jit(lambda x: x[1:])(x)._stream == STREAM
    assert scaled(taken, 1.0)._stream == -1
    ordered.clear()
    taken.to_host()
    assert ordered == [(False, STREAM)]
    ordered.clear()
    doubled_in_place(x, target="serial")
    assert ordered == [(False, STREAM), (False, STREAM), (True, STREAM)]
    assert parakeet.asarray(OfTensor(table()), HERE)._stream == 0
    assert parakeet.asarray(OfInterface(table(), stream=None), HERE)._stream == 0


# --- asarray and to_gpu ---

@pytest.mark.parametrize("kind", ALL)
def test_arrays_of_ours_over_their_memory(kind):
    x = kind(table())
    taken = parakeet.asarray(x, HERE)
    assert taken._addresses.ctypes.data == x.memory._addresses.ctypes.data
    np.testing.assert_array_equal(parakeet.asarray(x), table(), strict=True)
    copied = parakeet.to_gpu(x, HERE)
    assert copied._addresses.ctypes.data != x.memory._addresses.ctypes.data
    np.testing.assert_array_equal(copied.to_host(), table())
    assert doubled_in_place(copied) is copied
    np.testing.assert_array_equal(x.host(), table())


def test_a_call_without_them_looks_for_none(monkeypatch):
    """Also in a process that has met some: plain arguments go the way that they went."""
    seen = []
    take = foreign_arrays.take
    monkeypatch.setattr(foreign_arrays, "take", lambda x, lender: (seen.append(x), take(x))[1])
    scaled(table(), 2.0), scaled(parakeet.to_gpu(table(), HERE), 2.0), scaled(3, 4)
    assert not seen
    scaled(OfInterface(table()), 2.0)
    assert len(seen) == 2


def test_arrays_of_a_library_whose_arrays_never_change():
    class OfJax(OfInterface, OfTensor):
        __module__ = "jaxlib.fake"

    x = OfJax(table())
    np.testing.assert_array_equal(scaled(x, 2.0).to_host(), table() * 2 + 1)
    assert x.reads == 0  # its tensors are taken
    with pytest.raises(ValueError, match="read-only"):
        doubled_in_place(x)
