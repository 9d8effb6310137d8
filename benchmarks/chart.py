"""The table as a picture: where each contestant stands beside C++, on a line for each workload."""

import math
from html import escape

from report import best, ours

# Each contestant's colour and the order of the legend.
COLOURS = {"parakeet": "#d62728", "cpp": "#444444", "numpy": "#4c78a8", "numexpr": "#72b7b2",
           "numba": "#54a24b", "jax": "#b279a2", "pythran": "#e0a030"}  # fmt: skip
NAMES = {"cpp": "C++", "numpy": "NumPy", "numexpr": "NumExpr", "numba": "Numba", "jax": "JAX",
         "pythran": "Pythran", "parakeet": "Parakeet"}  # fmt: skip
LEFT, RIGHT, TOP, LINE, WIDTH = 170, 30, 70, 20, 860
# How many times as fast as C++, from and to; what is farther stands at the border.
LOWEST, HIGHEST = 1 / 64, 16


def draw(rows: list[dict], measure: str) -> str:
    """An SVG of `measure`, "median" or "processor": right is faster, and C++ is the line at 1."""
    shown = [row for row in rows if best(row, "cpp")]
    height = TOP + LINE * len(shown) + 20
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             f'font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *_legend(measure),
             *_axis(height)]  # fmt: skip
    for number, row in enumerate(shown):
        parts += _line(row, measure, TOP + LINE * number + LINE / 2)
    return "\n".join([*parts, "</svg>", ""])


def _x(ratio: float) -> float:
    ratio = min(max(ratio, LOWEST), HIGHEST)
    share = math.log(ratio / LOWEST) / math.log(HIGHEST / LOWEST)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _legend(measure: str) -> list[str]:
    what = {"median": "medians", "processor": "medians of the processors' time"}[measure]
    parts = [_text(LEFT, 18, f"times as fast as C++ with OpenMP ({what}, logarithmic)", "start")]
    for number, peer in enumerate(COLOURS):
        x = LEFT + number * 92
        parts += [_dot(x, 38, peer), _text(x + 9, 42, NAMES[peer], "start")]
    return parts


def _axis(height: int) -> list[str]:
    parts = []
    ratio = LOWEST
    while ratio <= HIGHEST:
        x = _x(ratio)
        stroke = "#444444" if ratio == 1 else "#dddddd"
        parts.append(f'<line x1="{x}" y1="{TOP - 4}" x2="{x}" y2="{height - 16}" '
                     f'stroke="{stroke}"/>')  # fmt: skip
        label = f"{ratio:g}" if ratio >= 1 else f"1/{round(1 / ratio)}"
        parts.append(_text(x, TOP - 8, label, "middle"))
        ratio *= 2
    return parts


def _line(row: dict, measure: str, y: float) -> list[str]:
    cpp = best(row, "cpp")[measure]
    parts = [_text(LEFT - 10, y + 4, row["workload"], "end")]
    # Ours last, so that nothing hides it.
    for peer in sorted(COLOURS, key=lambda peer: peer == "parakeet"):
        entry = ours(row) if peer == "parakeet" else best(row, peer)
        if entry and peer != "cpp":
            parts.append(_dot(_x(cpp / entry[measure]), y, peer))
    return parts


def _dot(x: float, y: float, peer: str) -> str:
    radius = 5.5 if peer == "parakeet" else 4
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{COLOURS[peer]}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
