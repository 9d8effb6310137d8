"""Complete programs on interpreter, serial and parallel against plain Python with NumPy.

Compared are the results and what is left in the arguments, at the sizes that stand in the table:
the interpreter runs at all but the last, which is large enough for threads.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from agreement import EXACT, REDUCED, TRANSCENDENTAL, Tolerance, check_agreement
from layouts import WRITABLE_LAYOUTS, lay_out
from whole_programs import (
    geometry,
    graphs,
    images,
    learning,
    linear_algebra,
    matching,
    memory,
    numbers,
    numerics,
    pictures,
    puzzles,
    sequences,
    signals,
    simulation,
    sorting,
    statistics,
)
from whole_programs.inputs import (
    bump,
    byte_image,
    chances,
    dominant,
    integers,
    laid_over,
    network,
    normal,
    one_shifted,
    one_twice,
    plane_of_points,
    positive_definite,
    seeds_for_growing,
    uniform,
    ways,
    windows_of_one_base,
)

from parakeet import Limitation, jit

MODULES = (geometry, graphs, images, learning, linear_algebra, matching, memory, numbers, numerics,
           pictures, puzzles, sequences, signals, simulation, sorting, statistics)

ITERATED = Tolerance("sums of another order than NumPy's, and steps that build on them",
                     ulps=256.0, of_sum=16.0, of_one=256.0)
AFTER_EXP = Tolerance("transcendental functions within 4 units in the last place, then sums",
                      ulps=64.0, of_sum=8.0, of_one=64.0)
CHAOTIC = Tolerance("sums of another order, whose difference grows with each of a few steps",
                    ulps=1e4, of_one=1e4)
CANCELLED = Tolerance("a root of what has cancelled", ulps=1e4, of_sum=8.0, of_one=1e4)
ROUNDED = Tolerance("NumPy may round otherwise: products of complex numbers, a sum of two products",
                    ulps=32.0, of_one=32.0)
# A name that only a loop makes NumPy's is NumPy's in ours (docs/differences.md), so sizes of
# programs that return one begin where the loop runs.


@dataclass(frozen=True)
class Case:
    """A row: a program, its arguments by size, and why it is refused, if it is."""

    program: Callable
    arguments: Callable[[int], tuple]
    sizes: tuple[int, ...]
    tolerance: Tolerance = EXACT
    label: str = ""
    refused: str = ""

    @property
    def name(self) -> str:
        return self.program.__name__ + (f"-{self.label}" if self.label else "")


def cases_of_geometry():
    p = geometry
    corners = lambda n: (normal(n), normal(n, seed=1))
    return [
        Case(p.polygon_area, corners, (3, 9, 3000), REDUCED),
        Case(p.inside_polygon, lambda n: (*corners(n), normal(5, seed=2), normal(5, seed=3)),
             (0, 1, 9, 3000)),
        Case(p.closest_pair, lambda n: (normal(n, 3),), (2, 9, 50), REDUCED),
        Case(p.hull, corners, (3, 9, 100)),
        Case(p.sphere_shades,
             lambda n: (normal(n, 3) / 9, normal(n, 3, seed=1), np.array([0.5, 0.2, 0.1]), 0.9),
             (1, 9, 3000), CANCELLED),
        Case(p.rotations, lambda n: (normal(n, 3),), (1, 4, 100), AFTER_EXP),
        Case(p.mesh_area, lambda n: (normal(n, 3), integers(n, 3, high=n)), (3, 9, 300), REDUCED),
    ]


def cases_of_graphs():
    p = graphs
    return [
        Case(p.floyd_warshall, lambda n: (ways(n),), (1, 6, 50)),
        Case(p.floyd_warshall_by_loops, lambda n: (ways(n),), (1, 6, 40)),
        Case(p.bellman_ford,
             lambda n: (integers(3 * n, high=n), integers(3 * n, high=n, seed=1),
                        uniform(3 * n, low=-0.1), n), (1, 6, 60)),
        Case(p.reachable, lambda n: (uniform(n, n) < 2 / n,), (1, 6, 60)),
        Case(p.dijkstra, lambda n: (ways(n),), (1, 6, 50)),
        Case(p.spanning_tree, lambda n: (uniform(n, n),), (2, 6, 40)),
        Case(p.joined_parts, lambda n: (integers(n, high=n), integers(n, high=n, seed=1), n),
             (1, 6, 60)),
        Case(p.degrees, lambda n: (integers(n, high=n), integers(n, high=n, seed=1), n),
             (1, 9, 300)),
    ]


def cases_of_images():
    p = images
    return [
        Case(p.mandelbrot, lambda n: (n, n, 20), (1, 6, 64)),
        Case(p.mandelbrot_of_arrays, lambda n: (plane_of_points(n), 15), (1, 6, 64)),
        Case(p.mandelbrot_of_reals,
             lambda n: (np.linspace(-2, 1, n), np.linspace(-1, 1, n), 20), (0, 1, 6, 64)),
        Case(p.julia, lambda n: (plane_of_points(n), complex(-0.7, 0.27), 12), (1, 6, 64),
             Tolerance("NumPy may fuse products of complex numbers; a fractal magnifies it",
                       of_one=1e5)),
        Case(p.sobel, lambda n: (uniform(n, n + 1),), (3, 8, 60)),
        Case(p.harris, lambda n: (uniform(n, n + 2), 0.04), (5, 8, 100)),
        Case(p.blur, lambda n: (uniform(n, n + 1), 2, 1.5), (1, 5, 40), AFTER_EXP),
        Case(p.dithered, lambda n: (byte_image(n, n + 1),), (1, 6, 40)),
        Case(p.dilated, lambda n: (uniform(n, n + 1), 3), (1, 6, 50)),
        Case(p.dilated, lambda n: (byte_image(n, n + 1), 5), (6, 40), label="bytes"),
        Case(p.opened_and_closed, lambda n: (uniform(n, n + 1), 3), (1, 5, 30)),
        Case(p.median_filtered, lambda n: (uniform(n, n + 1),), (2, 5, 30)),
        Case(p.grow_cut, lambda n: (*seeds_for_growing(n), 8), (2, 5, 12)),
        Case(p.components, lambda n: (uniform(n, n) < 0.6,), (1, 6, 20)),
        Case(p.equalised, lambda n: (byte_image(n, n),), (3, 8, 100)),
        Case(p.otsu, lambda n: (byte_image(n, n),), (3, 8, 50), REDUCED),
        Case(p.azimuthal, lambda n: (uniform(n, n), n / 2, n / 3, 5), (2, 8, 60), REDUCED),
        Case(p.rotated, lambda n: (uniform(n, n + 1), 0.5, -1.0), (1, 8, 60)),
        Case(p.resized, lambda n: (uniform(n, n + 1, 3), 2 * n, n + 2), (2, 6, 40), ROUNDED),
        Case(p.grey, lambda n: (byte_image(n, n + 1, 3),), (0, 6, 100)),
        Case(p.toned,
             lambda n: (uniform(n, n), np.array([0.0, 0.3, 1.0]), np.array([0.0, 0.6, 1.0])),
             (1, 6, 60), REDUCED),
    ]


def cases_of_learning():
    p = learning
    return [
        Case(p.softmax, lambda n: (normal(n, 7),), (1, 6, 500), AFTER_EXP),
        Case(p.layer_norm, lambda n: (normal(n, 9), uniform(9), normal(9)), (1, 6, 500), AFTER_EXP),
        Case(p.attention, lambda n: (normal(n, 4), normal(n, 4, seed=1), normal(n, 3, seed=2)),
             (1, 6, 50), AFTER_EXP),
        Case(p.convolution_layer,
             lambda n: (normal(2, n, n + 1, 3), normal(3, 3, 3, 4), normal(4)), (3, 5, 14),
             REDUCED),
        Case(p.max_pool, lambda n: (normal(2, n, n, 3), 2), (2, 6, 30)),
        Case(p.max_pool_by_reshape, lambda n: (normal(2, n, n, 3), 2), (2, 6, 30)),
        Case(p.recurrent, lambda n: (normal(n, 3), normal(3, 4), normal(4, 4) / 4, normal(4)),
             (1, 6, 50), AFTER_EXP),
        Case(p.train_network, network, (1, 10, 200), AFTER_EXP),
        Case(p.logistic_regression, lambda n: (normal(n, 3), integers(n), 0.1, 20), (1, 10, 500),
             AFTER_EXP),
        Case(p.perceptron, lambda n: (normal(n, 2), 2 * integers(n) - 1, 5), (1, 10, 100),
             ITERATED),
        Case(p.adam, lambda n: (normal(3), normal(n, 3), normal(n), 0.01, 15), (1, 10, 300),
             ITERATED),
        Case(p.k_means, lambda n: (normal(n, 2), normal(3, 2, seed=1), 4), (1, 12, 500), ITERATED),
        Case(p.k_means_by_loops, lambda n: (normal(n, 2), 3, 4), (3, 12, 200), ITERATED),
        Case(p.nearest_neighbours,
             lambda n: (normal(n, 2), integers(n, high=3), normal(n, 2, seed=1), 3), (4, 10, 60)),
        Case(p.nearest_by_sort, lambda n: (normal(n, 2), integers(n), normal(2), 3), (4, 10, 60)),
        Case(p.least_squares, lambda n: (normal(n, 3), normal(n)), (5, 10, 300), CHAOTIC),
    ]


def cases_of_linear_algebra():
    p = linear_algebra
    two = lambda n: (normal(n, n + 1), normal(n + 1, n + 2, seed=1))
    points = lambda n: (normal(n, 3), normal(n + 1, 3, seed=1))
    return [
        Case(p.tropical_product, two, (1, 5, 40)),
        Case(p.tropical_product_by_loops, two, (0, 1, 5, 40)),
        Case(p.product_by_loops, two, (0, 1, 5, 40), REDUCED),
        Case(p.matrix_power, lambda n: (normal(n, n) / n, 13), (1, 5, 40), ITERATED),
        Case(p.fibonacci_power, lambda n: (n, 10**9 + 7), (0, 1, 10, 12345)),
        Case(p.conjugate_gradient, lambda n: (positive_definite(n), normal(n), 1e-3, 50),
             (1, 5, 40), ITERATED),
        Case(p.cholesky, lambda n: (positive_definite(n),), (1, 5, 30), ITERATED),
        Case(p.cholesky, lambda n: (-positive_definite(n),), (1, 5), label="error"),
        Case(p.lu, lambda n: (normal(n, n),), (1, 5, 40)),
        Case(p.lu_by_loops, lambda n: (normal(n, n),), (1, 5, 40)),
        Case(p.solve, lambda n: (normal(n, n), normal(n)), (1, 5, 30),
             Tolerance("sums in another order, times the condition of the matrix", ulps=1e4,
                       of_one=1e5)),
        Case(p.tridiagonal, lambda n: (normal(n), 5 + normal(n, seed=1), normal(n), normal(n)),
             (1, 5, 300)),
        Case(p.gauss_jordan, lambda n: (dominant(n),), (1, 5, 30)),
        Case(p.gram_schmidt, lambda n: (normal(n + 2, n),), (1, 5, 30), ITERATED),
        Case(p.jacobi, lambda n: (dominant(n), normal(n), 10), (1, 5, 40), ITERATED),
        Case(p.spectral_norm, lambda n: (n, 3), (1, 5, 40), ITERATED),
        Case(p.power_iteration, lambda n: (positive_definite(n), 1e-6), (1, 5, 30), ITERATED),
        Case(p.page_rank, lambda n: (integers(n, n, dtype="float64"), 0.85, 10), (1, 6, 60),
             ITERATED),
        Case(p.stationary, lambda n: (chances(n, n), 1e-6), (1, 6, 60), ITERATED),
        Case(p.distances_by_broadcasting, points, (0, 1, 6, 60), REDUCED),
        Case(p.distances_by_products, points, (0, 1, 6, 60),
             CANCELLED),
        Case(p.distances_by_loops, points, (0, 1, 6, 60), REDUCED),
        Case(p.distances_by_comprehension, points, (1, 6, 60), REDUCED),
        Case(p.bilinear, lambda n: (normal(n, 3), normal(3, 4), normal(n, 4)), (1, 9, 300),
             REDUCED),
    ]


def cases_of_matching():
    p = matching
    words = lambda n: integers(n, high=3, dtype="int8")
    return [
        Case(p.occurrences, lambda n: (words(n), np.array([0, 1, 0], dtype=np.int8)),
             (0, 1, 20, 2000)),
        Case(p.palindromes, lambda n: (words(n),), (1, 12, 2000)),
        Case(p.suffix_order, lambda n: (words(n),), (1, 12, 60)),
        Case(p.compressed, lambda n: (words(n),), (0, 1, 15, 200)),
        Case(p.expanded_again,
             lambda n: (np.minimum(integers(n, low=1, high=4), np.maximum(np.arange(n), 1)),
                        np.minimum(integers(n, high=5), 5 * np.arange(n)), words(n)), (1, 9, 200)),
        Case(p.move_to_front, lambda n: (words(n), 3), (0, 1, 12, 1000)),
        Case(p.huffman_lengths, lambda n: (uniform(n),), (1, 2, 8, 40)),
        Case(p.hamming_corrected, lambda n: (integers(n, 7),), (0, 1, 9, 300)),
    ]


def cases_of_memory():
    p = memory
    two = lambda n: (normal(n), normal(n, seed=1))
    return [
        Case(p.exchanged_views, lambda n: (normal(n, 3),), (2, 5, 50)),
        Case(p.exchanged_rows, lambda n: (normal(n, 3), 0, n - 1), (2, 5, 50)),
        Case(p.exchanged_by_index, lambda n: (normal(n, 3), 0, n - 1), (1, 5, 50)),
        Case(p.exchanged_halves, lambda n: (normal(2 * n),), (0, 1, 5, 5000)),
        Case(p.normalised_rows, lambda n: (normal(n, 5),), (0, 1, 5, 500), REDUCED),
        Case(p.columns_by_transpose, lambda n: (normal(4, n),), (1, 5, 500)),
        Case(p.overlapping_stores, lambda n: (normal(n),), (6, 8, 10, 5000)),
        Case(p.overlapping_planes, lambda n: (normal(n, n), 3), (2, 5, 60)),
        Case(p.views_of_each_other, lambda n: (normal(n),), (1, 5, 5000)),
        Case(p.chosen_view, lambda n: (normal(n), True), (1, 5, 5000)),
        Case(p.buffers_in_turn, lambda n: (*two(n), 5), (2, 5, 5000)),
        Case(p.buffers_sometimes, lambda n: (*two(n), 5), (1, 5, 5000)),
        Case(p.repeated_places, lambda n: (normal(n), integers(2 * n, high=n), normal(2 * n)),
             (1, 5, 3000)),
        Case(p.masked_stores, lambda n: (normal(n),), (1, 5, 3000)),
        Case(p.window_of_window, lambda n: (normal(n, n + 1),), (3, 6, 50)),
        Case(p.added_into, two, (1, 5, 3000)),
        Case(p.added_into, one_shifted, (1, 5, 3000), label="overlapping"),
        Case(p.added_into, one_twice, (1, 5, 3000), label="same"),
        Case(p.buffers_in_turn, lambda n: (*one_shifted(n), 5), (2, 5, 5000), label="overlapping"),
        Case(p.repeated_places,
             lambda n: (lambda x: (x, integers(n, high=n), x[::-1]))(normal(n)), (1, 5, 3000),
             label="overlapping"),
    ]


def cases_of_numbers():
    p = numbers
    return [
        Case(p.longest_collatz, lambda n: (n,), (1, 2, 30, 1000)),
        Case(p.sieve, lambda n: (n,), (2, 30, 5000)),
        Case(p.count_primes, lambda n: (n,), (0, 30, 2000)),
        Case(p.totients, lambda n: (n,), (1, 10, 60)),
        Case(p.totients_by_loops, lambda n: (n,), (0, 1, 10, 60)),
        Case(p.random_numbers, lambda n: (42, n), (0, 10, 1000)),
        Case(p.horner, lambda n: (normal(6), normal(n)), (0, 1, 10, 50000)),
        Case(p.horner, lambda n: (integers(6, low=-3, high=4), integers(n, low=-4, high=5)),
             (0, 10, 5000), label="integers"),
        Case(p.bisection, lambda n: (0.0, float(n), 1e-12), (3, 10, 1000)),
        Case(p.bisection, lambda n: (5.0, 6.0, 1e-6), (1, 2), label="error"),
        Case(p.newton_roots, lambda n: (uniform(n, low=0.5, high=9),  1e-9), (1, 10, 20000)),
        Case(p.integral_of_cubic, lambda n: (0.0, 2.0, n), (2, 10, 2000), ITERATED),
    ]


def cases_of_numerics():
    p = numerics
    symmetric = lambda n: (lambda x: x + x.T)(normal(n, n))
    return [
        Case(p.descend, lambda n: (normal(n), 6), (2, 5, 40), CHAOTIC),
        Case(p.nelder_mead, lambda n: (normal(n), 12), (2, 4, 12), CHAOTIC),
        Case(p.least_of_each, lambda n: (normal(n),), (1, 5, 300)),
        Case(p.annealed,
             lambda n: (np.arange(n), normal(n), normal(n, seed=1), integers(20, 2, high=n),
                        uniform(20)), (2, 6, 40), ITERATED),
        Case(p.adaptive_runge_kutta, lambda n: (normal(n), 0.0, 2.0, 1e-4), (1, 5, 500)),
        Case(p.romberg, lambda n: (0.0, 1.0, n), (1, 4, 8), ITERATED),
        Case(p.v_cycle, lambda n: (np.zeros(n + 1), normal(n + 1), 1.0 / n), (2, 8, 256)),
        Case(p.pyramid_energy, lambda n: (normal(n, n + 3),), (2, 7, 64), REDUCED),
        Case(p.alternating_directions, lambda n: (normal(n, n + 1), 0.3, 2), (1, 5, 30)),
        Case(p.strassen, lambda n: (normal(n, n), normal(n, n, seed=1)), (1, 4, 16), ITERATED),
        Case(p.jacobi_rotations, lambda n: (symmetric(n), 3), (1, 4, 12)),
        Case(p.householder, lambda n: (normal(n + 1, n),), (1, 4, 20), ITERATED),
        Case(p.kalman, lambda n: (normal(n), 0.1, 0.5), (0, 1, 9, 200), ITERATED),
        Case(p.simplex_tableau,
             lambda n: (np.vstack((np.hstack((uniform(n, n, low=0.1), np.eye(n), np.ones((n, 1)))),
                                   np.hstack((-uniform(1, n), np.zeros((1, n + 1)))))), 20),
             (1, 4, 12)),
        Case(p.curvature, lambda n: (normal(n), normal(n, seed=1)), (3, 9, 300), TRANSCENDENTAL),
    ]


def cases_of_pictures():
    p = pictures
    return [
        Case(p.mandelbrot_of_ogrid, lambda n: (n, n + 2, 10), (1, 6, 60)),
        Case(p.disc, lambda n: (n, n / 3), (1, 6, 100)),
        Case(p.flood_fill, lambda n: (integers(n, n), n // 2, n // 2, 7), (1, 6, 40)),
        Case(p.line_drawn, lambda n: (np.zeros((n, n)), n - 1, 0, 0, n // 2, 1.0), (1, 6, 60)),
        Case(p.hough, lambda n: (uniform(n, n) < 0.2, 12), (3, 6, 30)),
        Case(p.seam_removed, lambda n: (normal(n, n + 2),), (1, 6, 40)),
        Case(p.bilateral, lambda n: (uniform(n, n + 1), 2, 4.0, 0.1), (1, 5, 20), AFTER_EXP),
        Case(p.anisotropic, lambda n: (uniform(n, n + 1), 0.2, 5), (2, 6, 60)),
        Case(p.block_cosines, lambda n: (100 * uniform(8 * n, 8 * n),), (1, 2, 6), AFTER_EXP),
        Case(p.distance_transform, lambda n: (uniform(n, n + 1) < 0.1,), (1, 6, 40)),
        Case(p.non_maxima_suppressed, lambda n: (uniform(n, n), 0.5), (2, 6, 40)),
        Case(p.matched, lambda n: (uniform(n, n), uniform(3, 3, seed=1)), (3, 6, 30), REDUCED),
        Case(p.spectrum_of_plane, lambda n: (normal(n, n),), (1, 4, 12),
             Tolerance("sums of complex products in another order", of_sum=16.0)),
    ]


def cases_of_puzzles():
    p = puzzles
    return [
        Case(p.queens, lambda n: (n,), (1, 4, 6)),
        Case(p.permutations, lambda n: (np.arange(n),), (1, 3, 6)),
        Case(p.pascal, lambda n: (n,), (1, 6, 60)),
        Case(p.spiral, lambda n: (n,), (1, 5, 40)),
        Case(p.magic_square, lambda n: (n,), (1, 5, 41)),
        Case(p.hanoi, lambda n: (n, 0, 1, 2), (0, 4, 10)),
        Case(p.checksum, lambda n: (byte_image(n),), (1, 9, 500)),
        Case(p.xorshift, lambda n: (7, n), (0, 9, 1000)),
        Case(p.grey_codes, lambda n: (n,), (1, 4, 12)),
        Case(p.coins, lambda n: (np.array([2, 5, 10]), n), (1, 9, 300)),
        Case(p.largest_sum, lambda n: (integers(n, low=-5, high=5),), (2, 9, 3000)),
        Case(p.sudoku_choices, lambda n: (integers(9, 9, high=n),), (2, 10)),
    ]


def cases_of_sequences():
    p = sequences
    words = lambda n: (integers(n, high=4, dtype="int8"), integers(n + 2, high=4, seed=1,
                                                                 dtype="int8"))
    return [
        Case(p.prefix_sums, lambda n: (integers(n, high=100),), (0, 1, 7, 64, 50000)),
        Case(p.prefix_sums, lambda n: (normal(n),), (0, 1, 7, 64, 50000), label="floats"),
        Case(p.prefix_sums_by_tree, lambda n: (normal(n),), (1, 2, 16, 4096)),
        Case(p.summed_areas, lambda n: (integers(n, n + 1, high=9),), (1, 6, 100)),
        Case(p.run_lengths, lambda n: (integers(n),), (1, 20, 5000)),
        Case(p.expanded, lambda n: (normal(n), integers(n, high=5)), (0, 1, 10, 300)),
        Case(p.longest_run, lambda n: (integers(n),), (0, 1, 20, 5000)),
        Case(p.binary_search, lambda n: (np.sort(normal(n)), normal(n + 3, seed=1)),
             (0, 1, 12, 3000)),
        Case(p.interpolated,
             lambda n: (uniform(n), np.linspace(0, 1, 9), normal(9)), (1, 12, 3000)),
        Case(p.smith_waterman, lambda n: (*words(n), 2, -1, -2), (2, 8, 60)),
        Case(p.edit_distance, words, (0, 1, 8, 100)),
        Case(p.common_subsequence, words, (0, 1, 8, 60)),
        Case(p.time_warping, lambda n: (normal(n), normal(n + 2, seed=1)), (1, 8, 60)),
        Case(p.viterbi,
             lambda n: (np.log(chances(1, 3)[0]), np.log(chances(3, 3)), np.log(chances(3, 4)),
                        integers(n, high=4)), (1, 8, 200)),
        Case(p.knapsack, lambda n: (integers(n, low=1, high=9), integers(n, high=50), 3 * n),
             (1, 8, 60)),
        Case(p.counted, lambda n: (integers(n, high=5),), (1, 12, 3000)),
    ]


def cases_of_signals():
    p = signals
    wave = lambda n: (normal(n) + 1j * normal(n, seed=1),)
    return [
        Case(p.fft, wave, (1, 2, 16, 1024), AFTER_EXP),
        Case(p.fft_of_halves, wave, (1, 2, 16, 512), AFTER_EXP),
        Case(p.fourier_by_product, lambda n: (normal(n),), (1, 9, 100),
             Tolerance("sines of large angles, summed", of_sum=200.0, of_one=200.0)),
        Case(p.convolved, lambda n: (normal(n), normal(4, seed=1)), (1, 9, 5000)),
        Case(p.haar, lambda n: (normal(n),), (1, 2, 16, 4096)),
        Case(p.low_pass,
             lambda n: (normal(n), np.array([1.0, -0.9, 0.2]), np.array([0.1, 0.2, 0.1])),
             (0, 1, 9, 2000)),
        Case(p.without_high, lambda n: (normal(n), 2), (4, 9, 200), AFTER_EXP, refused="np.fft"),
        Case(p.smoothed, lambda n: (normal(n), 3), (3, 9, 3000), REDUCED),
    ]


def cases_of_simulation():
    p = simulation
    bodies = lambda n: (normal(n, 3), normal(n, 3, seed=1), uniform(n, low=1, high=2), 0.01, 5)
    grid = lambda n: uniform(n, n + 1)
    return [
        Case(p.n_body, bodies, (1, 5, 60), ITERATED),
        Case(p.n_body_by_loops, bodies, (1, 5, 30), ITERATED),
        Case(p.smoothed_particles,
             lambda n: (uniform(n, 2), np.zeros((n, 2)), 1.0 / n, 0.3, 1e-3, 2), (1, 4, 20),
             CHAOTIC),
        Case(p.runge_kutta, lambda n: (np.array([1.0, 1.0, 1.0]), 0.01, n), (0, 1, 10, 500)),
        Case(p.pendulum, lambda n: (normal(n), normal(n, seed=1), 0.01, 20), (0, 5, 5000),
             TRANSCENDENTAL),
        Case(p.heat, lambda n: (grid(n), 0.1, 5), (1, 2, 6, 100)),
        Case(p.heat_by_loops, lambda n: (grid(n), 0.1, 5), (1, 2, 6, 40)),
        Case(p.gauss_seidel, lambda n: (grid(n), 4), (3, 6, 40)),
        Case(p.wave, lambda n: (bump(n), 0.5, 20), (2, 9, 5000)),
        Case(p.wave_by_loops, lambda n: (grid(n), grid(n), 1.0, 0.1, 3), (1, 6, 40)),
        Case(p.wave_by_loops, windows_of_one_base, (3, 6, 40), label="overlapping"),
        Case(p.advect, lambda n: (bump(n), 0.3, 10), (1, 9, 5000)),
        Case(p.shifted, lambda n: (uniform(n), 3), (3, 9, 5000)),
        Case(p.burgers, lambda n: (1 + uniform(n), 1e-4, 0.1, 0.07, 10), (4, 9, 5000)),
        Case(p.fdtd_line, lambda n: (uniform(n), np.zeros(n - 1), bump(10)), (3, 9, 5000)),
        Case(p.fdtd_plane,
             lambda n: (uniform(n, n + 1), np.zeros((n, n)), np.zeros((n - 1, n + 1)), 6),
             (2, 6, 60), REDUCED),
        Case(p.gray_scott, lambda n: (uniform(n, n), uniform(n, n, seed=1), 0.06, 0.062, 5),
             (1, 6, 100)),
        Case(p.lattice_boltzmann, lambda n: (uniform(9, n, n + 1, low=0.5), 1.2, 3), (1, 5, 40),
             ITERATED),
        Case(p.particles_in_cells, lambda n: (uniform(n, high=8), normal(n), 8, 0.1, 3),
             (1, 9, 300), ITERATED),
        Case(p.game_of_life, lambda n: (integers(n, n), 5), (1, 2, 8, 100)),
        Case(p.game_of_life, lambda n: (integers(n, n, dtype="uint8"), 5), (8, 100), label="bytes"),
        Case(p.life_by_loops, lambda n: (integers(n, n), 3), (1, 6, 30)),
        Case(p.elementary_automaton, lambda n: (integers(n, dtype="uint8"), 30, 10), (1, 9, 2000)),
        Case(p.sandpile, lambda n: (integers(n, n, high=8),), (1, 6, 40)),
        Case(p.ising, lambda n: (2 * integers(n, n) - 1, uniform(3, n, n), 0.4), (1, 5, 30)),
        Case(p.life_by_padding, lambda n: (integers(n, n), 3), (1, 6, 60)),
    ]


def cases_of_sorting():
    p = sorting
    floats = lambda n: (normal(n),)
    return [
        Case(p.insertion_sort, lambda n: (normal(n),), (0, 1, 12, 200)),
        Case(p.quick_sort, lambda n: (normal(n), 0, n - 1), (1, 12, 500)),
        Case(p.bubble_sort, floats, (0, 1, 12, 100)),
        Case(p.heap_sort, floats, (0, 1, 12, 300)),
        Case(p.merge_sort, floats, (0, 1, 12, 300)),
        Case(p.odd_even_sort, floats, (0, 1, 12, 200)),
        Case(p.bitonic_sort, floats, (1, 2, 16, 256)),
        Case(p.counting_sort, lambda n: (integers(n, high=9), 9), (0, 1, 12, 3000)),
        Case(p.radix_sort, lambda n: (integers(n, high=99),), (0, 1, 12, 3000)),
    ]


def cases_of_statistics():
    p = statistics
    options = lambda n: (uniform(n, low=10, high=50), uniform(n, low=10, high=50, seed=1),
                         uniform(n, low=0.2, high=2))
    hidden = lambda n: (chances(3, 3), chances(3, 4), chances(1, 3)[0], integers(n, high=4))
    return [
        Case(p.black_scholes, lambda n: (*options(n), 0.02, 0.3), (0, 1, 9, 10000), AFTER_EXP),
        Case(p.black_scholes_by_loop, lambda n: (*options(n), 0.02, 0.3, np.zeros(n)),
             (0, 1, 9, 3000), AFTER_EXP),
        Case(p.asian_option, lambda n: (normal(n, 12), 100.0, 105.0, 0.03, 0.2, 1.0), (1, 9, 1000),
             AFTER_EXP),
        Case(p.binomial_option, lambda n: (100.0, 105.0, 0.03, 0.2, 1.0, n), (1, 9, 100),
             AFTER_EXP),
        Case(p.estimate_pi, lambda n: (uniform(n), uniform(n, seed=1)), (0, 1, 9, 50000)),
        Case(p.random_walk, lambda n: (2 * integers(n) - 1, 5), (1, 9, 3000)),
        Case(p.markov_path, lambda n: (chances(4, 4), uniform(n), 1), (0, 1, 9, 2000)),
        Case(p.forward_algorithm, hidden, (1, 9, 300), AFTER_EXP),
        Case(p.bootstrap, lambda n: (normal(n), integers(20, n, high=n)), (2, 9, 300), ITERATED),
        Case(p.welford, lambda n: (normal(n),), (2, 9, 3000)),
        Case(p.kahan_sum, lambda n: (normal(n),), (1, 9, 3000)),
        Case(p.correlation, lambda n: (normal(n, 4),), (3, 9, 2000), ITERATED),
        Case(p.density, lambda n: (normal(n), np.linspace(-3, 3, 15), 0.3), (1, 9, 1000),
             AFTER_EXP),
        Case(p.histogram_by_loop, lambda n: (normal(n), -2.0, 2.0, 7), (0, 9, 3000)),
        Case(p.histogram_by_masks, lambda n: (normal(n), np.linspace(-2, 2, 8)), (0, 9, 3000),
             REDUCED),
        Case(p.histogram_by_numpy, lambda n: (normal(n), 7), (2, 9, 3000)),
        Case(p.moving_average, lambda n: (normal(n), 3), (3, 9, 50000), REDUCED),
        Case(p.exponential_average, lambda n: (normal(n), 0.2), (1, 9, 3000)),
        Case(p.running_median, lambda n: (normal(n), 5), (5, 9, 300)),
        Case(p.autocorrelation, lambda n: (normal(n), 4), (4, 9, 1000), REDUCED),
        Case(p.fit_line, lambda n: (normal(n), normal(n, seed=1)), (3, 9, 3000), ITERATED),
        Case(p.normal_mixture,
             lambda n: (np.concatenate((normal(n) - 2, normal(n, seed=1) + 2)),
                        np.array([-1.0, 1.0]), 5), (3, 9, 500), AFTER_EXP),
        Case(p.box_plot, lambda n: (normal(n),), (1, 9, 500), REDUCED),
        Case(p.correlated, lambda n: (normal(n), normal(n, seed=1)), (3, 9, 500), ITERATED),
    ]


TABLES = (
    cases_of_geometry,
    cases_of_graphs,
    cases_of_images,
    cases_of_learning,
    cases_of_linear_algebra,
    cases_of_matching,
    cases_of_memory,
    cases_of_numbers,
    cases_of_numerics,
    cases_of_pictures,
    cases_of_puzzles,
    cases_of_sequences,
    cases_of_signals,
    cases_of_simulation,
    cases_of_sorting,
    cases_of_statistics,
)
CASES = [case for table in TABLES for case in table()]
JITTED = {case.program: jit(case.program) for case in CASES}


def parameter(case: Case):
    """A refused program is run too, so that the day when it compiles shows."""
    marks = [pytest.mark.xfail(raises=Limitation, strict=True, reason=case.refused)]
    return pytest.param(case, id=case.name, marks=marks if case.refused else [])


def called_by_others(module) -> set[str]:
    """Functions of a module that others of it name: helpers, which are run with their callers."""
    functions = [f for f in vars(module).values() if inspect.isfunction(f)]
    named = {(f.__name__, name) for f in functions for name in names_in(f.__code__)}
    return {name for user, name in named if user != name}


def names_in(code) -> set[str]:
    inner = [names_in(c) for c in code.co_consts if inspect.iscode(c)]
    return set(code.co_names).union(*inner)


def test_names_are_told_apart():
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_program_is_run(module):
    written = {f.__name__ for f in vars(module).values()
               if inspect.isfunction(f) and f.__module__ == module.__name__}
    assert written - called_by_others(module) <= {f.__name__ for f in JITTED}


def check(case: Case, arrange: Callable[[tuple], tuple] = lambda arguments: arguments) -> None:
    """At every size; `arrange` says how the arguments lie in memory."""
    for size in case.sizes:
        interpreted = ["interpreter"] if size != case.sizes[-1] else []
        check_agreement(JITTED[case.program], case.program,
                        lambda: arrange(case.arguments(size)), case.tolerance,
                        [*interpreted, "serial", "parallel"])


@pytest.mark.parametrize("case", [parameter(case) for case in CASES])
def test_agrees_with_plain_python(case):
    if case.refused:
        JITTED[case.program](*case.arguments(case.sizes[0]))  # Raises the Limitation itself.
    check(case)


ACCEPTED = [pytest.param(case, id=case.name) for case in CASES if not case.refused]
# Where its result overlaps what it reads, Python's math.log raises (docs/differences.md).
NOT_OVERLAPPING = {statistics.black_scholes_by_loop}


@pytest.mark.long
@pytest.mark.parametrize("shift", [0, 1, -1])
@pytest.mark.parametrize("case", ACCEPTED)
def test_agrees_where_arguments_overlap(case, shift):
    if laid_over(case.arguments(case.sizes[-1]), shift) is None:
        pytest.skip("no two arguments are alike")
    if case.program in NOT_OVERLAPPING:
        pytest.skip("stores what it cannot read")
    check(case, lambda arguments: laid_over(arguments, shift) or arguments)


@pytest.mark.long
@pytest.mark.parametrize(("case", "layout"), [
    pytest.param(case, layout, id=f"{case.name}-{layout}") for case in CASES if not case.refused
    for layout in WRITABLE_LAYOUTS[1:]])
def test_agrees_in_every_layout(case, layout):
    check(case, lambda arguments: tuple(
        lay_out(x, layout) if isinstance(x, np.ndarray) else x for x in arguments))
