"""Convolution as a comprehension with a windowed sum: the slices never become arrays."""

import numpy as np

from parakeet import jit

# Answers where brightness changes, and 0 where it does not.
EDGES = np.array([[-1.0, -1.0, -1.0],
                  [-1.0, 8.0, -1.0],
                  [-1.0, -1.0, -1.0]])


@jit
def conv_3x3_trim(image, weights):
    """Returns the [h - 2, w - 2] sums of image, [h, w], under weights, [3, 3]."""
    return np.array([[(image[i-1:i+2, j-1:j+2] * weights).sum()
                      for j in range(1, image.shape[1] - 1)]
                     for i in range(1, image.shape[0] - 1)])


if __name__ == "__main__":
    step = np.zeros((5, 6))
    step[:, 3:] = 1.0
    print(conv_3x3_trim(step, EDGES))
