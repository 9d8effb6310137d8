"""Element-wise kernels for CuPy, as its users fuse them."""

import cupy as cp

_CHAIN = cp.ElementwiseKernel(
    "float64 x, float64 y, float64 z", "float64 out",
    """double t = x * 2.5 + y, u = t * t - z;
       out = (u > t || u != u ? u : t) / (1.0 + fabs(z)) - 0.5 * x""",
    "chain")  # fmt: skip
_TANH = cp.ElementwiseKernel("T x, T a, T b", "T out", "out = tanh(x * a) + b", "tanh_scaled")
_OPTIONS = cp.ElementwiseKernel(
    "float64 price, float64 strike, float64 years, float64 rate, float64 volatility",
    "float64 call, float64 put",
    """double root = volatility * sqrt(years);
       double d1 = (log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / root;
       double d2 = d1 - root, discounted = strike * exp(-rate * years);
       double n1 = below(d1), n2 = below(d2);
       call = price * n1 - discounted * n2;
       put = discounted * (1.0 - n2) - price * (1.0 - n1)""",
    "black_scholes", preamble="""
__device__ double below(double d) {
  double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
  double tail = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978
      + k * 1.330274429))));
  tail = tail * 0.3989422804014327 * exp(-0.5 * d * d);
  return d > 0 ? 1.0 - tail : tail;
}""")  # fmt: skip


def chain(x, y, z):
    return _CHAIN(x, y, z)


def tanh(x, a, b):
    return _TANH(x, x.dtype.type(a), x.dtype.type(b))


def black_scholes(price, strike, years, rate, volatility):
    return _OPTIONS(price, strike, years, rate, volatility)
