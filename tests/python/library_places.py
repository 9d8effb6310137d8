"""Numbers of elements, of places and of steps in every dtype, as rows of library_rows.py."""

import numpy as np
from library_rows import Group

DTYPES = ("int64", "int8", "uint8", "uint64", "bool", "float64", "float32", "complex128")
PLACES = {name: (np.array([0, 1, 1]).astype(name),) for name in DTYPES}
TABLE = np.arange(12.0).reshape(3, 4)

GROUPS = {
    "places_of_each_dtype": Group(
        "p", PLACES,
        """
            np.choose(p, (1, 2)); p.choose([np.arange(3.0), 5]); np.take(np.arange(3), p)
            np.arange(5).take(p); np.take(np.eye(3), p, axis=1); np.arange(3).repeat(p)
            np.bincount(p); np.unravel_index(p, (2,)); np.unravel_index(p, (2, 3))
            np.unravel_index(p[1], (2, 3)); np.ravel_multi_index((p,), (4,))
            np.ravel_multi_index((p, p), (4, 5)); np.ravel_multi_index((p, [0, 1, 2]), (4, 5))
            np.put(np.arange(4), p, 7); np.eye(2, k=p[1]); np.roll(np.arange(4), p[1].real)
            np.gradient(p)
        """),
    "places_in_lists": Group(
        "x", {"float64": (TABLE,), "int8": (TABLE.astype("int8"),)},
        """
            np.take(x, (1, 2)); np.take(x, [1.0]); np.take(x, [True]); np.take(x, True)
            np.take(x, 1.0); np.take(x, []); np.take(x, (0, 1), axis=1); np.take(x, (9,))
            np.put(x, [1.0, 2.5], 7); np.put(x, True, 7); np.repeat(x, 1.0); np.repeat(x, [True], 0)
            np.choose([1.0], (1, 2)); np.choose([], (1, 2)); np.choose(True, (1, 2))
            np.unravel_index([], (2,)); np.unravel_index(1.0, (2,)); np.unravel_index([1], (2, 3))
            np.unravel_index([5, 7, 9], (2, 3)); np.ravel_multi_index(([],), (4,))
            np.ravel_multi_index(([0, 1.0],), (4,)); np.eye(2, k=True); np.eye(2, k=1.0)
            np.partition(x, True); np.partition(x, 1.0); np.pad(x, True); np.pad(x, 1.5)
            np.linalg.matrix_power(x[:, :3], 2.0); np.delete(x, True); round(x[0, 0] > 1)
            np.interp(1j, [0, 1], x[0, :2]); np.interp(0.5, [0, 1j], x[0, :2])
        """),
    "steps_that_are_no_integers": Group(
        "x", {"matrix": (TABLE,), "fortran": (np.asfortranarray(TABLE),)},
        """
            np.roll(x, 1.7); np.roll(x, -1.7); np.roll(x, (1.5,), (0,)); np.roll(x, x[0, 2])
            np.roll(x, x[0, 1:2]); np.roll(x, np.array([1, 2]))
            np.roll(x, np.array([1, 2]), (0, 1))
            np.roll(x, np.array([1.5, -2.5]), (0, 1)); np.roll(x, np.array([1, 2]), axis=1)
        """),
    "inserted_before_several": Group(
        "x", {"vector": (np.arange(4),), "floats": (np.arange(4.0)[::-1],)},
        """
            np.insert(x, [1, 3], [7, 8]); np.insert(x, [3, 1, 1], [7, 8, 9])
            np.insert(x, [1], [7, 8])
            np.insert(x, [], 1); np.insert(x, x % 2 == 0, 9); np.insert(x, slice(1, 3), 5)
            np.insert(x, np.array([-1, 4]), 5); np.insert(x, np.array([5]), 1)
            np.insert(x, [9, 1], 1)
            np.insert(x, [1.0, 2], 1); np.insert(x, np.int8(2), 5)
            np.insert(x, np.eye(2, dtype=int), 1)
            np.insert(x, np.array([1, 2], np.int8), 5); np.insert(x, 4, x[:2])
            np.insert(x, [0, 0, 4], x[:3])
        """),
    "rows_inserted": Group(
        "x", {"matrix": (TABLE,), "fortran": (np.asfortranarray(TABLE),)},
        """
            np.insert(x, [1, 2], 7, axis=1); np.insert(x, [1, 2], [[7], [8], [9]], axis=1)
            np.insert(x, [1, 2], [7, 8], axis=1); np.insert(x, [1], [[7], [8], [9]], axis=1)
            np.insert(x, 1, [7, 8, 9], axis=1); np.insert(x, [1], [7, 8], axis=1)
            np.insert(x, [0, 2], x[0], axis=0); np.insert(x, [1, 2], [7, 8])
            np.insert(x, np.uint8(1), 5, axis=0); np.insert(x, [0, 1], 5, axis=-1)
        """),
    "bytes_in_bins": Group(
        "x", {
            "uint8": (np.arange(300).astype(np.uint8),), "int8": (np.arange(300).astype(np.int8),),
            "bool": (np.arange(9) % 3 == 0,), "none": (np.zeros(0, np.uint8),),
        },
        """
            np.histogram(x); np.histogram(x, 256, (0, 256)); np.histogram(x, [0, 1, 5, 200])
            np.histogram(x, 7, (-3, 100), density=True); np.histogram(x, [-128, -1, 127])
        """),
    "places_in_common": Group(
        "a, b", {
            "ints": (np.array([3, 7, 2, 7]), np.array([7, 7, 1, 2])),
            "floats": (np.array([0.5, 2.0, 0.5]), np.array([2, 0, 2])),
            "none": (np.array([1]), np.array([2])),
        },
        """
            np.intersect1d(a, b, return_indices=True)
            np.intersect1d(a[:1], b[:1], assume_unique=True, return_indices=True)
        """),
    "halves_of_spectra": Group(
        "x", {"vector": (np.arange(5),), "matrix": (TABLE,), "complex": (TABLE * 1j,)},
        """
            np.fft.fftshift(x); np.fft.ifftshift(x); np.fft.fftshift(x, axes=0)
            np.fft.ifftshift(x, -1); np.fft.fftshift(x, (0,)); np.fft.fftshift(x, 5)
            np.fft.fftshift(np.fft.fftfreq(len(x), 0.1)); np.fft.rfftfreq(6)
        """),
}  # fmt: skip
