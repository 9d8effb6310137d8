"""Random programs of what our own kernels do: products, equations of few rows, histograms, sorts.

One kind of fuzz.py. Sizes are odd, long and short, what is multiplied lies in any layout, overlaps
or is the same array, and values of histograms lie on the edges of bins and beside them.
"""

import random

import numpy as np
from layouts import lay_out

# n, m and l of A (n, l), B (l, m), C (n, m); q rows of equations, of which there are s systems.
SIZES = ((5, 3, 4, 3, 4), (33, 17, 65, 8, 3), (1, 1, 1, 1, 1), (130, 9, 300, 5, 2),
         (64, 64, 64, 9, 2), (0, 3, 2, 2, 0), (3, 2, 0, 4, 1), (200, 1, 7, 7, 20),
         (2, 700, 3, 6, 5), (257, 129, 33, 2, 70), (7, 5, 2000, 3, 1), (1, 400, 40, 4, 9))
FLAVOURS = (("float64", "C"), ("float64", "C"), ("float32", "C"), ("float64", "Fortran"),
            ("float64", "reversed"), ("float64", "strided"), ("float32", "broken_stride"),
            ("int64", "C"), ("int32", "Fortran"), ("int8", "C"), ("uint8", "reversed"),
            ("bool", "C"), ("complex128", "C"), ("complex64", "Fortran"), ("float16", "C"),
            ("float64", "same"), ("float32", "same"), ("float64", "overlapping"),
            ("float64", "unaligned"), ("uint32", "strided"))
HEAD = "def f(A, B, C, D, S, T, b, w, v, x, e, k):\n"
# D has A's shape and C's columns are w's; v is as long as A's rows; S is one system, T a stack.
PRODUCTS = """\
A @ B
A @ B + w
A @ B + C
C - A @ B
A @ D.T
A.T @ D
A @ A.T
A.T @ A
D @ D.T + A @ A.T
B.T @ A.T
(A @ B).T
A @ v
v @ B
A.T @ C
C.T @ A
A @ B @ C.T
(A * v) @ A.T
A.T @ (A * A)
A @ (B + B)
(A - D) @ B
A[::-1] @ B
A[:, ::-1] @ B[::-1]
A[:, ::2] @ B[::2]
A[1:] @ B[:, 1:]
A[:, :3] @ B[:3]
A[:2] @ B
A @ B[:, :2]
A @ B[:, 0]
np.dot(A, B)
np.dot(A[0], B)
np.inner(A, D)
np.outer(v, w)
np.vdot(A, D)
np.einsum('ij,jk->ik', A, B)
np.einsum('ij,jk->ki', A, B)
np.einsum('ij,kj->ik', A, D)
np.einsum('ij,ik->jk', A, C)
np.einsum('ij,ij->i', A, D)
np.einsum('ij,ij->j', A, D)
np.einsum('ij,ij', A, D)
np.einsum('ij,j,kj->ik', A, v, D)
np.einsum('ij,jk,k->i', A, B, w)
np.tensordot(A, B, axes=1)
np.tensordot(A, D, axes=2)
np.matmul(T, T)
T @ S
T @ b
np.einsum('sij,sjk->sik', T, T)
np.einsum('sij,sj->si', T, b)
np.einsum('sii->s', T)
T @ T.transpose(0, 2, 1)
(A @ B).sum(axis=0)
(A @ B).sum(axis=1)
(A @ B).max(axis=1)
(A @ B).argmax(axis=1)
(A @ B).sum()
np.maximum(A @ B, 0)
np.maximum(A @ B + w, C)
np.where(A @ B > 2, C, 0)
(A @ B) * (A @ B)
A @ B == C
np.abs(A @ B - C).max()
np.trace(A @ D.T)
np.linalg.matrix_power(S, 3)
np.linalg.matrix_power(S, 0)
(A @ A.T) @ C
A @ (B @ w)
A.sum(axis=0) @ B
A.astype(np.float64) @ B
A.astype(np.float32) @ B.astype(np.float32)
(A > 1) @ (B > 1)
np.array([r @ B for r in A])
np.array([[(r * s).sum() for s in D] for r in A])
np.array([[r @ s for s in B.T] for r in A])
((A[:, None, :] - D[None, :, :]) ** 2).sum(axis=2)
(A[:, None, :] * D[None, :, :]).max(axis=2)
(A[:, :, None] + B[None, :, :]).min(axis=1)
np.abs(A[:, None] - D).sum(axis=-1)
np.kron(S, S)
np.convolve(v, w)
np.correlate(v, w, mode='full')
np.linalg.norm(A @ B)""".split("\n")
EQUATIONS = """\
np.linalg.solve(S, b[0])
np.linalg.solve(S, S)
np.linalg.solve(S.T, b[0])
np.linalg.solve(S[::-1, ::-1], b[0][::-1])
np.linalg.solve(T, b[..., None])
np.linalg.solve(T, T)
np.linalg.solve(T.transpose(0, 2, 1), T)
np.linalg.solve(S, b[0] * 2) - b[0]
np.linalg.inv(S)
np.linalg.inv(T)
np.linalg.inv(S.T)
np.linalg.inv(T[::-1])
np.linalg.inv(T[:, ::-1])
np.linalg.inv(S) @ S
np.linalg.det(S)
np.linalg.det(T)
np.linalg.det(T[::2])
np.linalg.det(S * 0)
np.linalg.slogdet(S)[0]
np.linalg.slogdet(T)[1]
np.array([np.linalg.det(t) for t in T])
np.array([np.linalg.solve(t, c) for t, c in zip(T, b)])
np.array([np.linalg.inv(t) for t in T])
np.linalg.inv(S * 0)
np.linalg.solve(S - S[0], b[0])
np.linalg.inv(np.eye(k) * 2)
np.linalg.solve(np.eye(k) + 1, np.arange(k))
np.linalg.pinv(S)
np.linalg.cholesky(S @ S.T + np.eye(len(S)))
np.linalg.lstsq(S, b[0])[0]
np.abs(np.linalg.eigvalsh(S @ S.T))
np.linalg.matrix_rank(S)
np.linalg.cond(S) > 1""".split("\n")
HISTOGRAMS = """\
np.histogram(x, bins=10)[0]
np.histogram(x, bins=k)[0]
np.histogram(x, bins=k)[1]
np.histogram(x, bins=10, range=(0, 1))[0]
np.histogram(x, bins=7, range=(-1, 2))[0]
np.histogram(x, bins=30, range=(0.1, 0.7))[0]
np.histogram(x, bins=e)[0]
np.histogram(x[::-1], bins=e)[0]
np.histogram(x, bins=10, density=True)[0]
np.histogram(x, bins=10, weights=x * 4)[0]
np.histogram(x, bins=e, weights=np.ones(len(x)))[0]
np.histogram(x[::2], bins=100, range=(0, 1))[0]
np.digitize(x, e)
np.digitize(x, e, right=True)
np.searchsorted(e, x)
np.searchsorted(e, x, side='right')
np.bincount((x * 10).astype(np.int64), minlength=5)
np.bincount(np.digitize(x, e), weights=x)
np.bincount(np.searchsorted(e, x), minlength=len(e) + 1)
np.interp(x, e, e * 2)
np.interp(x, e, np.arange(len(e)), left=-1.0, right=9.0)
np.cumsum(np.histogram(x, bins=10, range=(0, 1))[0])
np.histogram2d(x, x[::-1], bins=4, range=((0, 1), (0, 1)))[0]
np.sort(x)
np.sort(x)[::-1][:5]
np.argsort(x, kind='stable')
np.argsort(-x, kind='stable')[:3]
np.unique(x)
np.unique(np.floor(x * 8), return_counts=True)[1]
np.partition(x, 0)[0]
np.median(x)
np.percentile(x, [10, 50, 90])
np.cumsum(x > 0.5)
np.flatnonzero(np.diff(x) > 0)
np.add.reduceat(x, [0])
np.lexsort((x, np.floor(x * 3)))""".split("\n")
LOOPS = """\
t = np.zeros((len(A), B.shape[1]), A.dtype)|for i in range(len(A)):|\
    for j in range(B.shape[1]):|        for p in range(len(B)):|\
            t[i, j] += A[i, p] * B[p, j]
t = C * 1|for i in range(len(A)):|    for p in range(len(B)):|        for j in range(B.shape[1]):|\
            t[i, j] += A[i, p] * B[p, j]
t = C * 1|for i in range(len(A)):|    for j in range(B.shape[1]):|        s = A[i, 0] * B[0, j]|\
        for p in range(1, len(B)):|            s += A[i, p] * B[p, j]|        t[i, j] -= s
t = np.zeros((len(A), len(A)), A.dtype)|for i in range(len(A)):|    for j in range(i + 1):|\
        t[i, j] = A[i] @ D[j]|        t[j, i] = t[i, j]
t = np.zeros((len(A), len(A)), A.dtype)|for i in range(len(A)):|\
    t[i, i:] = A[i] @ D[i:].T|    t[i:, i] = t[i, i:]
t = (D @ A.T) * 1|for i in range(len(A)):|    t[i, :i] = A[:i] @ D[i]
t = np.ones((len(A), len(A)), A.dtype)|for i in range(len(A) - 1):|\
    for j in range(i + 1, len(A)):|        t[j, i] += (A[i] * D[j]) @ v
t = np.zeros((A.shape[1], A.shape[1]), A.dtype)|for i in range(min(A.shape[1], 70)):|\
    t[i, i + 1:] = A[:, i] @ D[:, i + 1:]
t = S * 1|for i in range(len(S)):|    t[i, :i] = t[i, :i] @ S[:i, :i]|\
    t[i, i:] = S[i] @ S[:, i:]
t = S * 1|for i in range(len(S)):|    t[i] = t[i] @ S
t = C * 1|for i in range(3):|    t = t + A @ B
t = C * 1|t += A @ B
t = C * 1|t[1:] = A[1:] @ B
t = C * 1|t[:, ::-1] = A @ B
t = S * 1|for i in range(k):|    t[:] = t @ S % 5
t = S * 1|for i in range(k):|    t = (t @ S.T) * 0 + S
t = S * 1|t[:] = t.T @ t
t = S * 1|t @= S
t = b * 1|for i in range(len(T)):|    t[i] = T[i] @ t[i]
t = b * 1|for i in range(len(T)):|    t[i] = np.linalg.solve(T[i], t[i])
t = C * 1|np.matmul(A, B, out=t)
t = np.zeros(9)|for q in x:|    t[int(q * 8) % 9] += 1
t = np.zeros(len(e) + 1)|for q in x:|    t[np.searchsorted(e, q)] += q
t = np.zeros(9, np.int64)|np.add.at(t, (x * 8).astype(np.int64) % 9, 1)
t = np.zeros((3, 9))|for i in range(len(x)):|    t[i % 3, int(x[i] * 7) % 9] += x[i]""".split("\n")
TABLES = ((PRODUCTS, 6), (EQUATIONS, 2), (HISTOGRAMS, 2), (LOOPS, 2))


def cases(seed: int) -> list[int]:
    """Four sizes, of two flavours, and the first once more."""
    chance = random.Random(seed)
    flavours = [chance.randrange(len(FLAVOURS)) for _ in range(2)]
    at = [flavours[k % 2] * len(SIZES) + size
          for k, size in enumerate(chance.sample(range(len(SIZES)), 4))]
    return [*at, at[0]]


def make_arguments(which: int) -> tuple:
    """Small whole numbers, so that sums are exact; systems are far from singular."""
    dtype, layout = FLAVOURS[which // len(SIZES)]
    n, m, inner, rows, systems = SIZES[which % len(SIZES)]
    chance = np.random.default_rng(which)
    kind = np.dtype(dtype).kind

    def whole(*shape):
        made = chance.integers(0 if kind in "bu" else -3, 2 if kind == "b" else 4, shape)
        return (made + 1j * chance.integers(-2, 3, shape) if kind == "c" else made).astype(dtype)

    floats = np.float32 if dtype == "float32" else np.float64
    A, B, C, D = whole(n, inner), whole(inner, m), whole(n, m), whole(n, inner)
    S, T = (chance.standard_normal((*stack, rows, rows)) + 4 * np.eye(rows)[
        chance.permutation(rows)] for stack in ((), (systems,)))
    S, T = np.rint(S * 8).astype(floats), T.astype(floats)
    b = whole(max(systems, 1), rows).real.astype(floats)[:systems]
    if systems == 0:
        b = np.ones((0, rows), floats)
    bins = np.linspace(0, 1, 11)
    x = np.concatenate((chance.random(n), bins[chance.integers(0, 11, n)],
                        np.nextafter(bins[chance.integers(0, 11, n)], 9), chance.random(5)))
    if which % 7 == 3:
        x[chance.integers(len(x), size=2)] = np.inf, -0.0
    if layout == "same":
        D = A
        T = np.broadcast_to(S, T.shape)
    elif layout == "overlapping":
        D, T = A[::-1], T[::-1]
    elif layout != "C":
        A, B, C, D, S, T, b, x = (lay_out(u, layout) for u in (A, B, C, D, S, T, b, x))
    return A, B, C, D, S, T, b, whole(m), whole(inner), x.astype(floats), bins, 3


class Writer:
    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def program(self) -> str:
        lines, made = [], []
        for number in range(self.random.randint(1, 3)):
            tables, weights = zip(*TABLES, strict=True)
            table = self.random.choices(tables, weights)[0]
            form = self.random.choice(table)
            if table is LOOPS:
                lines += [*form.split("|"), f"t{number} = t"]
            else:
                lines.append(f"t{number} = {form}")
            made.append(f"t{number}")
        body = "".join(f"    {line}\n" for line in lines)
        return f"{HEAD}{body}    return ({', '.join(made)},)\n"


def make_program(seed: int) -> tuple[str, bool]:
    """The text of a program, and that it is of the subset."""
    return Writer(seed).program(), True
