"""Element by element: what fusion, result memory and vector mathematics decide."""

import numpy as np
from workload import Workload


def chain(x, y, z):
    t = x * 2.5 + y
    u = t * t - z
    return np.maximum(u, t) / (1.0 + np.abs(z)) - 0.5 * x


def tanh(x, a, b):
    return np.tanh(x * a) + b


def normal_distribution(d):
    k = 1.0 / (1.0 + 0.2316419 * np.abs(d))
    tail = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978
                + k * 1.330274429))))  # fmt: skip
    tail = tail * 0.3989422804014327 * np.exp(-0.5 * d * d)
    return np.where(d > 0, 1.0 - tail, tail)


def black_scholes(price, strike, years, rate, volatility):
    root = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * years)
    n1 = normal_distribution(d1)
    n2 = normal_distribution(d2)
    call = price * n1 - discounted * n2
    put = discounted * (1.0 - n2) - price * (1.0 - n1)
    return call, put


def transposed(n, rows):
    return np.arange(n).reshape(rows, -1).T * 2


def make_chain(random, n):
    return tuple(random.standard_normal(n) for _ in range(3))


def make_tanh(random, n, dtype):
    return random.standard_normal(n).astype(dtype), 0.5, 0.3


def make_options(random, n):
    uniform = random.uniform
    return uniform(5, 30, n), uniform(1, 100, n), uniform(0.25, 10, n), 0.02, 0.3


def chain_cpp(library, x, y, z):
    out = np.empty_like(x)
    library.chain(x, y, z, out, x.size)
    return out


def tanh_cpp(library, x, a, b):
    out = np.empty_like(x)
    (library.tanh_f64 if x.dtype == np.float64 else library.tanh_f32)(x, a, b, out, x.size)
    return out


def black_scholes_cpp(library, price, strike, years, rate, volatility):
    call, put = np.empty_like(price), np.empty_like(price)
    library.black_scholes(price, strike, years, rate, volatility, call, put, price.size)
    return call, put


def transposed_cpp(library, n, rows):
    out = np.empty((n // rows, rows), np.int64)
    library.transposed(out, n // rows, rows)
    return out


CHAIN = "where(({t}) * ({t}) - z > {t}, ({t}) * ({t}) - z, {t}) / (1.0 + abs(z)) - 0.5 * x"
TAIL = ("(0.3989422804014327 * exp(-0.5 * d * d) * k * (0.31938153 + k * (-0.356563782 + k * ("
        "1.781477937 + k * (-1.821255978 + k * 1.330274429)))))")  # fmt: skip


def tanh_numexpr(evaluate, x, a, b):
    # A Python float would make doubles of singles.
    a, b = x.dtype.type(a), x.dtype.type(b)
    return evaluate("tanh(x * a) + b")


def black_scholes_numexpr(evaluate, price, strike, years, rate, volatility):
    root = evaluate("volatility * sqrt(years)")
    d = evaluate("(log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / root")
    k = evaluate("1.0 / (1.0 + 0.2316419 * abs(d))")
    n1 = evaluate(f"where(d > 0, 1.0 - {TAIL}, {TAIL})")
    d = evaluate("d - root")
    k = evaluate("1.0 / (1.0 + 0.2316419 * abs(d))")
    n2 = evaluate(f"where(d > 0, 1.0 - {TAIL}, {TAIL})")
    call = evaluate("price * n1 - strike * exp(-rate * years) * n2")
    put = evaluate("strike * exp(-rate * years) * (1.0 - n2) - price * (1.0 - n1)")
    return call, put


WORKLOADS = [
    Workload("chain", chain, make_chain, (10_000_000,), (257,), 1e-14,
             flops=lambda a, r: 10 * a[0].size,
             numexpr=lambda evaluate, x, y, z: evaluate(CHAIN.format(t="(x * 2.5 + y)")),
             cpp=chain_cpp, against_cpp=1.2),
    *(Workload(f"tanh {dtype}", tanh, make_tanh, (10_000_000, dtype), (257, dtype), tolerance,
               flops=lambda a, r: 3 * a[0].size,
               numexpr=tanh_numexpr, cpp=tanh_cpp, against_cpp=1.2)
      for dtype, tolerance in (("float64", 1e-14), ("float32", 1e-6))),
    # Logarithms and exponentials of 4 units in the last place, and differences of prices.
    Workload("black_scholes", black_scholes, make_options, (4_000_000,), (257,), 1e-12,
             flops=lambda a, r: 60 * a[0].size, numexpr=black_scholes_numexpr,
             cpp=black_scholes_cpp, against_cpp=1.2),
    Workload("transposed", transposed, lambda random, n, rows: (n, rows), (10_000_000, 1000),
             (60, 5), 0.0, cpp=transposed_cpp, against_cpp=1.5),
]  # fmt: skip
