"""Products for Numba: BLAS where there is one, else loops whose inner one is contiguous."""

import numpy as np
from numba import prange


def matmul(njit):
    @njit
    def kernel(X, Y):
        return np.dot(X, Y)

    return kernel


def tropical(njit):
    @njit
    def kernel(A, B):
        out = np.full((A.shape[0], B.shape[1]), np.inf)
        for i in prange(A.shape[0]):
            for l in range(A.shape[1]):
                for j in range(B.shape[1]):
                    out[i, j] = min(out[i, j], A[i, l] + B[l, j])
        return out

    return kernel


def distances(njit):
    @njit
    def kernel(X, columns, out):
        for i in prange(X.shape[0]):
            for j in range(columns.shape[1]):
                out[i, j] = (X[i, 0] - columns[0, j]) ** 2
            for l in range(1, X.shape[1]):
                for j in range(columns.shape[1]):
                    out[i, j] += (X[i, l] - columns[l, j]) ** 2

    def call(X, Y):
        out = np.empty((X.shape[0], Y.shape[0]))
        kernel(X, np.ascontiguousarray(Y.T), out)
        return out

    return call


def distances__of_rows(njit):
    @njit
    def kernel(X, Y, out):
        for i in prange(X.shape[0]):
            for j in range(Y.shape[0]):
                total = 0.0
                for l in range(X.shape[1]):
                    total += (X[i, l] - Y[j, l]) ** 2
                out[i, j] = total

    def call(X, Y):
        out = np.empty((X.shape[0], Y.shape[0]))
        kernel(X, Y, out)
        return out

    return call
