"""Samples, chances and money."""

import math

import numpy as np

# Money.


def normal_cdf(x):
    """Abramowitz and Stegun 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978
                                                                          + k * 1.330274429))))
    tail = np.exp(-x * x / 2.0) / np.sqrt(2.0 * np.pi) * poly
    return np.where(x >= 0, 1.0 - tail, tail)


def black_scholes(price, strike, years, rate, volatility):
    """Call and put (n,) of prices, strikes and years (n,)."""
    d1 = (np.log(price / strike) + (rate + volatility**2 / 2) * years) / (volatility
                                                                         * np.sqrt(years))
    d2 = d1 - volatility * np.sqrt(years)
    discount = np.exp(-rate * years)
    call = price * normal_cdf(d1) - strike * discount * normal_cdf(d2)
    put = strike * discount * normal_cdf(-d2) - price * normal_cdf(-d1)
    return call, put


def phi(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def black_scholes_by_loop(price, strike, years, rate, volatility, out):
    """Calls into out (n,), one after another."""
    for i in range(len(price)):
        spread = volatility * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i])
              + (rate + 0.5 * volatility * volatility) * years[i]) / spread
        out[i] = (price[i] * phi(d1)
                  - strike[i] * math.exp(-rate * years[i]) * phi(d1 - spread))


def asian_option(normals, start, strike, rate, volatility, years):
    """Monte Carlo of given normals (paths, steps): the price and its standard error."""
    paths, steps = normals.shape
    dt = years / steps
    moves = (rate - 0.5 * volatility**2) * dt + volatility * np.sqrt(dt) * normals
    prices = start * np.exp(np.cumsum(moves, axis=1))
    payoff = np.exp(-rate * years) * np.maximum(prices.mean(axis=1) - strike, 0.0)
    return payoff.mean(), payoff.std() / np.sqrt(paths)


def binomial_option(start, strike, rate, volatility, years, n):
    """An American put on a tree of n steps."""
    dt = years / n
    up = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    values = np.maximum(strike - start * up ** (2.0 * np.arange(n + 1) - n), 0)
    for step in range(n - 1, -1, -1):
        hold = np.exp(-rate * dt) * (p * values[1:step + 2] + (1 - p) * values[:step + 1])
        prices = start * up ** (2.0 * np.arange(step + 1) - step)
        values[:step + 1] = np.maximum(hold, strike - prices)
    return values[0]


# Chances.


def estimate_pi(x, y):
    """From given points (n,) of the unit square: the estimate after each."""
    inside = np.cumsum(x * x + y * y <= 1.0)
    return 4.0 * inside / np.arange(1, len(x) + 1)


def random_walk(steps, width):
    """Where a walker is after given steps (n,) of -1 and 1 between walls, and the hits."""
    position = 0
    hits = 0
    seen = np.zeros(2 * width + 1, dtype=np.int64)
    for s in steps:
        position += s
        if position > width or position < -width:
            position -= s
            hits += 1
        seen[position + width] += 1
    return position, hits, seen


def markov_path(transitions, chances, start):
    """States (n,) of a chain (k, k) drawn by given chances (n,) in [0, 1)."""
    k = transitions.shape[0]
    cumulative = transitions.cumsum(axis=1)
    path = np.empty(len(chances), dtype=np.int64)
    state = start
    for t in range(len(chances)):
        following = 0
        while following < k - 1 and chances[t] >= cumulative[state, following]:
            following += 1
        state = following
        path[t] = state
    return path


def forward_algorithm(transitions, emissions, start, observed):
    """The log likelihood of observed (t,) under a hidden Markov model, scaled each step."""
    alpha = start * emissions[:, observed[0]]
    total = 0.0
    for t in range(1, len(observed)):
        s = alpha.sum()
        total += np.log(s)
        alpha = (alpha / s) @ transitions * emissions[:, observed[t]]
    return total + np.log(alpha.sum())


def bootstrap(x, picks):
    """Means (b,) of resamples of x (n,) by picks (b, n) of indices; their middle and spread."""
    means = np.array([x[pick].mean() for pick in picks])
    return means.mean(), means.std(ddof=1)


# Samples.


def welford(x):
    """Mean and variance in one pass."""
    mean = 0.0
    m2 = 0.0
    for n, value in enumerate(x, 1):
        delta = value - mean
        mean += delta / n
        m2 += delta * (value - mean)
    return mean, m2 / (len(x) - 1)


def kahan_sum(x):
    """Compensated."""
    total = 0.0
    lost = 0.0
    for value in x:
        y = value - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total


def correlation(x):
    """(d, d) of the columns of (n, d)."""
    centred = x - x.mean(axis=0)
    covariance = centred.T @ centred / (len(x) - 1)
    deviation = np.sqrt(np.diag(covariance))
    return covariance / np.outer(deviation, deviation)


def density(samples, grid, width):
    """A Gaussian kernel estimate at grid (m,)."""
    z = (grid[:, None] - samples[None, :]) / width
    return np.exp(-0.5 * z**2).sum(axis=1) / (len(samples) * width * np.sqrt(2 * np.pi))


def histogram_by_loop(x, low, high, bins):
    """Counts (bins,) and what fell outside."""
    counts = np.zeros(bins, dtype=int)
    outside = 0
    for value in x:
        if low <= value < high:
            counts[int((value - low) / (high - low) * bins)] += 1
        else:
            outside += 1
    return counts, outside


def histogram_by_masks(x, edges):
    """Counts and sums between edges (bins + 1,)."""
    bins = len(edges) - 1
    counts = np.zeros(bins, dtype=np.int64)
    sums = np.zeros(bins)
    for k in range(bins):
        inside = (x >= edges[k]) & (x < edges[k + 1])
        counts[k] = inside.sum()
        sums[k] = x[inside].sum()
    return counts, sums


def histogram_by_numpy(x, bins):
    counts, edges = np.histogram(x, bins)
    return counts / counts.sum(), (edges[1:] + edges[:-1]) / 2


def moving_average(x, width):
    """(n - width + 1,) from prefix sums."""
    total = np.cumsum(x)
    total[width:] = total[width:] - total[:-width]
    return total[width - 1:] / width


def exponential_average(x, alpha):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


def running_median(x, width):
    """By sort: (n - width + 1,), width odd."""
    out = np.empty(len(x) - width + 1)
    for i in range(len(out)):
        window = np.sort(x[i:i + width])
        out[i] = window[width // 2]
    return out


def autocorrelation(x, most):
    """At lags 0 to most - 1."""
    centred = x - np.mean(x)
    n = len(x)
    return np.array([np.sum(centred[:n - lag] * centred[lag:]) for lag in range(most)]) / np.sum(
        centred**2)


def fit_line(x, y):
    """Slope, offset and r squared."""
    n = len(x)
    sx, sy = x.sum(), y.sum()
    sxx, sxy = (x * x).sum(), (x * y).sum()
    slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
    offset = (sy - slope * sx) / n
    residual = y - (slope * x + offset)
    return slope, offset, 1 - (residual**2).sum() / ((y - y.mean()) ** 2).sum()


def normal_mixture(x, means, steps):
    """EM for two normal distributions of one variance each; means (2,) in place."""
    deviations = np.ones(2)
    shares = np.array([0.5, 0.5])
    for _ in range(steps):
        z = (x[:, None] - means) / deviations
        p = shares * np.exp(-0.5 * z * z) / deviations
        p = p / p.sum(axis=1, keepdims=True)
        weight = p.sum(axis=0)
        means[:] = (p * x[:, None]).sum(axis=0) / weight
        deviations = np.sqrt((p * (x[:, None] - means) ** 2).sum(axis=0) / weight)
        shares = weight / len(x)
    return deviations, shares


def box_plot(x):
    """Quartiles, and what lies outside the whiskers."""
    low, middle, high = np.percentile(x, 25), np.median(x), np.percentile(x, 75)
    reach = 1.5 * (high - low)
    return low, middle, high, x[(x < low - reach) | (x > high + reach)]


def correlated(x, y):
    """Pearson's, by NumPy."""
    return np.corrcoef(x, y)[0, 1]
