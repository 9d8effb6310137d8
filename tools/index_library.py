"""Writes where each function of the library stands, so that a program imports what it uses.

    index_library.py pylib/parakeet/library > places.py

Read off the sources, which are not run: decorators of functions at the outermost level, and calls
`methods.update(name=function)`. A module that registers anything in another way is listed as one
that is always imported; so are two that register the same thing, since the later one wins.
"""

import ast
import sys
from pathlib import Path

# The tables of parakeet.library.registry that are read by name.
TABLES = ("composed", "functions", "methods", "ufunc_methods")
DECORATORS = ("overload", "subscript", "ufunc")


class UnclearError(Exception):
    """A module registers something in a way that cannot be read off its source."""


class Module:
    """What one module registers: paths of objects, and names by table."""

    def __init__(self, tree: ast.Module):
        self.objects, self.subscripts = [], []
        self.names = {table: [] for table in TABLES}
        self.imported = {}  # modules by the names that they have here
        self.registering = set()  # names that register something
        for statement in tree.body:
            self._read(statement)

    def _read(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import):
            self.imported.update({n.asname or n.name: n.name for n in statement.names})
        elif isinstance(statement, ast.ImportFrom):
            self._read_import(statement)
        elif isinstance(statement, ast.FunctionDef):
            for decorator in statement.decorator_list:
                self._read_decorator(decorator, statement.name)
            self._must_not_register(*statement.body)
        elif not self._is_update(statement):
            self._must_not_register(statement)

    def _read_import(self, statement: ast.ImportFrom) -> None:
        names = {n.name: n.asname for n in statement.names}
        if statement.module == "parakeet.library.registry":
            if not set(names) <= {*TABLES, *DECORATORS, "register"} or any(names.values()):
                raise UnclearError
            self.registering |= set(names)
        elif "registry" in names:
            raise UnclearError

    def _must_not_register(self, *nodes: ast.AST) -> None:
        for node in nodes:
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and part.id in self.registering:
                    raise UnclearError

    def _is_update(self, statement: ast.stmt) -> bool:
        """Reads `methods.update(name=function)`; False for any other statement."""
        call = getattr(statement, "value", None)
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            return False
        table = getattr(call.func.value, "id", None)
        if table not in TABLES or call.func.attr != "update" or call.args:
            return False
        self.names[table] += [keyword.arg for keyword in call.keywords]
        return True

    def _read_decorator(self, decorator: ast.expr, name: str) -> None:
        kind = getattr(getattr(decorator, "func", None), "id", None)
        if kind not in DECORATORS:
            return self._must_not_register(decorator)
        paths = [path for argument in decorator.args for path in self._paths(argument)]
        if kind == "subscript":
            self.subscripts += paths
            return
        self.objects += paths
        if kind == "ufunc":
            ufunc = paths[0].rpartition(".")[2]
            self.names["composed"].append(ufunc)
            self.names["functions"].append(ufunc)
        elif f"numpy.{name}" in paths:
            self.names["functions"].append(name)
        for keyword in decorator.keywords:
            if keyword.arg != "method" or not isinstance(keyword.value, ast.Constant):
                raise UnclearError
            self.names["methods"].append(keyword.value.value)

    def _paths(self, argument: ast.expr) -> list[str]:
        """Of `np.linalg.norm`, or `getattr(np, "name", otherwise)`; of all that may be chosen."""
        if isinstance(argument, ast.Constant) and argument.value is None:
            return []
        if isinstance(argument, ast.BoolOp):
            return [path for value in argument.values for path in self._paths(value)]
        if isinstance(argument, ast.IfExp):
            return [*self._paths(argument.body), *self._paths(argument.orelse)]
        if isinstance(argument, ast.Call) and getattr(argument.func, "id", None) == "getattr":
            where, name, *otherwise = argument.args
            others = [path for other in otherwise for path in self._paths(other)]
            return [f"{self._path(where)}.{ast.literal_eval(name)}", *others]
        return [self._path(argument)]

    def _path(self, expr: ast.expr) -> str:
        if isinstance(expr, ast.Attribute):
            return f"{self._path(expr.value)}.{expr.attr}"
        if isinstance(expr, ast.Name) and expr.id in self.imported:
            return self.imported[expr.id]
        raise UnclearError

    def things(self) -> list[tuple[str, str]]:
        """All that it registers: the name of a table, and what is in it."""
        named = [(table, name) for table, names in self.names.items() for name in names]
        return [
            *(("objects", path) for path in self.objects),
            *(("subscripts", path) for path in self.subscripts),
            *named,
        ]


def index(folder: Path) -> str:
    """The text of places.py."""
    files = sorted(path for path in folder.glob("*.py") if path.stem != "places")
    places = {table: {} for table in ("objects", "subscripts", *TABLES)}
    always = set()
    for path in files:
        if path.stem in ("__init__", "registry"):
            continue
        try:
            things = Module(ast.parse(path.read_bytes())).things()
        except UnclearError:
            always.add(path.stem)
            continue
        for table, name in things:
            other = places[table].setdefault(name, path.stem)
            if other != path.stem:
                always |= {other, path.stem}
    lines = ['"""Written by tools/index_library.py when a wheel is built."""']
    lines.append(f"SIZES = {({path.name: path.stat().st_size for path in files})!r}")
    lines.append(f"ALWAYS = {sorted(always)!r}")
    lines.append(f"PLACES = {places!r}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(index(Path(sys.argv[1])))
