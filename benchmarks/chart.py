"""The table as a picture: where each contestant stands, on a line for each workload.

On the host beside C++; on a GPU beside the best of the peers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from report import best, ours

# Each contestant's colour and the order of the legend.
COLOURS = {"parakeet": "#d62728", "cpp": "#444444", "numpy": "#4c78a8", "numexpr": "#72b7b2",
           "numba": "#54a24b", "jax": "#b279a2", "pythran": "#e0a030"}  # fmt: skip
DEVICE_COLOURS = {"parakeet": "#d62728", "cuda": "#444444", "cupy": "#54a24b", "torch": "#e0a030",
                  "jax": "#b279a2"}  # fmt: skip
NAMES = {"cpp": "C++", "numpy": "NumPy", "numexpr": "NumExpr", "numba": "Numba", "jax": "JAX",
         "pythran": "Pythran", "parakeet": "Parakeet", "cuda": "CUDA, CUB", "cupy": "CuPy",
         "torch": "PyTorch"}  # fmt: skip
LEFT, RIGHT, TOP, LINE, WIDTH = 170, 30, 70, 20, 860
# How many times as fast as C++, from and to; what is farther stands at the border.
LOWEST, HIGHEST = 1 / 64, 16


@dataclass(frozen=True)
class Comparison:
    """Who is on the picture, and beside whose entry of a row, which is the line at 1."""

    colours: dict[str, str]
    reference: Callable[[dict], dict | None]
    title: str
    is_reference_shown: bool = False

    def entry(self, row: dict, peer: str) -> dict | None:
        if peer == "parakeet":
            return ours(row)
        is_line = peer == "cpp" and not self.is_reference_shown
        return None if is_line else best(row, peer)


ON_HOST = Comparison(COLOURS, lambda row: best(row, "cpp"), "times as fast as C++ with OpenMP")
ON_DEVICE = Comparison(
    DEVICE_COLOURS, lambda row: best(row, *(peer for peer in DEVICE_COLOURS if peer != "parakeet")),
    "times as fast as the best peer on a GPU", is_reference_shown=True)


def draw(rows: list[dict], measure: str, compared: Comparison = ON_HOST) -> str:
    """An SVG of `measure`, "median" or "processor": right is faster."""
    shown = [row for row in rows if compared.reference(row)]
    height = TOP + LINE * len(shown) + 20
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             f'font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *_legend(measure, compared),
             *_axis(height)]  # fmt: skip
    for number, row in enumerate(shown):
        parts += _line(row, measure, TOP + LINE * number + LINE / 2, compared)
    return "\n".join([*parts, "</svg>", ""])


def _x(ratio: float) -> float:
    ratio = min(max(ratio, LOWEST), HIGHEST)
    share = math.log(ratio / LOWEST) / math.log(HIGHEST / LOWEST)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _legend(measure: str, compared: Comparison) -> list[str]:
    what = {"median": "medians", "processor": "medians of the processors' time"}[measure]
    parts = [_text(LEFT, 18, f"{compared.title} ({what}, logarithmic)", "start")]
    for number, (peer, colour) in enumerate(compared.colours.items()):
        x = LEFT + number * 92
        parts += [_dot(x, 38, peer, colour), _text(x + 9, 42, NAMES[peer], "start")]
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


def _line(row: dict, measure: str, y: float, compared: Comparison) -> list[str]:
    reference = compared.reference(row)[measure]
    parts = [_text(LEFT - 10, y + 4, row["workload"], "end")]
    # Ours last, so that nothing hides it.
    for peer in sorted(compared.colours, key=lambda peer: peer == "parakeet"):
        if entry := compared.entry(row, peer):
            parts.append(_dot(_x(reference / entry[measure]), y, peer, compared.colours[peer]))
    return parts


def _dot(x: float, y: float, peer: str, colour: str) -> str:
    radius = 5.5 if peer == "parakeet" else 4
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
