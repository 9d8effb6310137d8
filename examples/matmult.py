"""Matrix multiply as a comprehension of dots: no loop nest is written, and none is interpreted."""

import numpy as np

from parakeet import jit


@jit
def matmult(X, Y):
    """Returns the [n, m] product of X, [n, k], and Y, [k, m]."""
    return np.array([[np.dot(row, col) for col in Y.T] for row in X])


if __name__ == "__main__":
    X = np.arange(6.0).reshape(2, 3)
    print(matmult(X, X.T))
