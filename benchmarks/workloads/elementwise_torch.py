"""Element-wise programs for torch.compile."""

import torch


def chain(x, y, z):
    t = x * 2.5 + y
    u = t * t - z
    return torch.maximum(u, t) / (1.0 + torch.abs(z)) - 0.5 * x


def tanh(x, a, b):
    return torch.tanh(x * a) + b


def _below(d):
    k = 1.0 / (1.0 + 0.2316419 * torch.abs(d))
    tail = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978
                + k * 1.330274429))))  # fmt: skip
    tail = tail * 0.3989422804014327 * torch.exp(-0.5 * d * d)
    return torch.where(d > 0, 1.0 - tail, tail)


def black_scholes(price, strike, years, rate, volatility):
    root = volatility * torch.sqrt(years)
    d1 = (torch.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    n1, n2 = _below(d1), _below(d1 - root)
    discounted = strike * torch.exp(-rate * years)
    return price * n1 - discounted * n2, discounted * (1.0 - n2) - price * (1.0 - n1)
