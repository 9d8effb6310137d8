"""Simple regression, written as in a textbook: eight traversals in NumPy, two once compiled."""

import numpy as np

from parakeet import jit


def covariance(x, y):
    return ((x - x.mean()) * (y - y.mean())).mean()


@jit
def fit_simple_regression(x, y):
    """Returns the slope and the offset of the line through the points (x, y) in least squares.

    x and y are vectors of one length. `covariance`, a plain function, is compiled with this one.
    """
    slope = covariance(x, y) / covariance(x, x)
    offset = y.mean() - slope * x.mean()
    return slope, offset


if __name__ == "__main__":
    x = np.linspace(0.0, 1.0, 1000)
    slope, offset = fit_simple_regression(x, 3.0 * x + 2.0)
    print(f"slope {slope:.6f}, offset {offset:.6f}")
