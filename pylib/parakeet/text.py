"""How texts for people are put together."""

# Steps of a compilation that are no passes, as the manifest names them.
_STEPS = ("open", "frontend", "emit", "optimize", "generate", "link", "load")


class Text(str):
    """A text that an interactive prompt shows as it is."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def clipped(text, longest):
    """The text, with its end left out where it is longer than so many letters."""
    return text if len(text) <= longest else text[: longest - 3].rstrip() + "..."


def listed(words, most):
    """The words with commas between them; of more than so many, the first ones."""
    words = list(words)
    return ", ".join(words[:most]) + (" ..." if len(words) > most else "")


def phases_text(phases):
    """Milliseconds by step, the passes added up."""
    steps = {}
    for name, ms in phases.items():
        name = name if name in _STEPS else "passes"
        steps[name] = steps.get(name, 0.0) + ms
    return ", ".join(f"{name} {ms:.2f}" for name, ms in steps.items() if ms >= 0.005)
