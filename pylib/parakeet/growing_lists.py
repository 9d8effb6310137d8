"""Lists that grow, as arrays with room and a count.

    found = []                        found.count = 0
    found.append(v)                   found.item = v
                                      if list_is_full(found.buffer, found.count, found.item):
                                          found.buffer = list_grown(...)
                                      list_put(found.buffer, found.count, found.item)
                                      found.count += 1
                                      found.last = found.item
    v = found.pop()                   if found.count == 0: raise IndexError(...)
                                      found.count -= 1
                                      found.popped0 = list_element(found.buffer, found.count,
                                                                   found.last)
                                      v = found.popped0
    while found: found[-1]            while found.count > 0: list_at(found.buffer, ...)

What was appended last says whether elements are Python's numbers. The names with a dot are no
user's; what is called is in `parakeet.library.lists`. A list is written so where its name alone
holds it: where it is made by displays, and every use shows what happens to it. What may hold it by
another name, or goes through it while it grows, leaves it as it is, and its `append` is refused.
"""

import ast

_METHODS = ("append", "pop", "clear")
# What goes through a list by its elements, which are tuples where tuples were appended.
_ITERATED_BY = ("enumerate", "zip", "reversed")
# What keeps no part of a list.
_READ_BY = ("sum", "min", "max", "any", "all", "sorted", "list", "tuple")
# What could tell a list from an array.
_NOT_GIVEN_TO = ("isinstance", "type", "id", "hash", "iter", "repr", "str", "print")
# What evaluates all of its parts, from left to right.
_UNCONDITIONAL = (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Call, ast.Subscript, ast.Attribute,
                  ast.Assign, ast.AugAssign, ast.Return, ast.Expr)
# What may be evaluated twice.
_PURE = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
         ast.expr_context)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def grow(function):
    """Rewrites the growing lists of a function and of those nested in it, in place."""
    for node in list(ast.walk(function)):
        if isinstance(node, ast.FunctionDef):
            _Scope(node).rewrite()
    return function


class _Scope:
    """One function without those nested in it."""

    def __init__(self, function):
        self.function = function
        self.parents = {}
        self.names = {}  # by identifier, those of this scope
        self.hidden = {argument.arg for argument in _arguments(function)}
        self.position = 0  # of the statement of the function that is being collected
        self.positions = {}  # by name node
        for self.position, statement in enumerate(function.body):
            self._collect(statement)

    def _collect(self, node):
        if isinstance(node, _FUNCTIONS):
            self.hidden |= _free_names(node)
            return
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            self.hidden |= set(node.names)
        if isinstance(node, ast.Name):
            self.names.setdefault(node.id, []).append(node)
            self.positions[node] = self.position
        for child in ast.iter_child_nodes(node):
            self.parents[child] = node
            self._collect(child)

    def rewrite(self):
        grown = {}
        for name, uses in self.names.items():
            if name in self.hidden or not any(self._method(use) for use in uses):
                continue
            roles = {use: self._role(use) for use in self._before_an_array(name, uses)}
            if None not in roles.values() and "reset" in roles.values():
                grown[name] = roles
        # A list that is an element of another one would be held twice.
        if grown:
            roles = {use: role for found in grown.values() for use, role in found.items()}
            rewriter = _Rewriter(roles, self.parents)
            self.function.body = rewriter.block(self.function.body)

    def _before_an_array(self, name, uses):
        """The uses up to where the function gives the name to something else for good, as
        `found = np.array(found)`."""
        for position, statement in enumerate(self.function.body):
            if not isinstance(statement, ast.Assign) or isinstance(statement.value, ast.List):
                continue
            target = statement.targets[0]
            if len(statement.targets) == 1 and isinstance(target, ast.Name) and target.id == name:
                return [use for use in uses
                        if self.positions[use] <= position and use is not target]
        return uses

    def _method(self, use):
        """Which of the methods is called of it."""
        attribute = self.parents.get(use)
        call = self.parents.get(attribute)
        is_called = (isinstance(attribute, ast.Attribute) and isinstance(call, ast.Call)
                     and call.func is attribute)
        return attribute.attr if is_called and attribute.attr in _METHODS else None

    def _role(self, use):
        parent = self.parents.get(use)
        if isinstance(use.ctx, ast.Store):
            return "reset" if _is_reset(parent, use) else None
        if not isinstance(use.ctx, ast.Load):
            return None
        method = self._method(use)
        if method is not None:
            return self._role_of_call(method, self.parents[parent])
        if self._is_truth(use):
            return "truth"
        if isinstance(parent, ast.Call) and use in parent.args:
            return self._role_of_argument(parent, use.id)
        if isinstance(parent, ast.Subscript) and parent.value is use:
            return self._role_of_index(parent)
        if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is use:
            return "items" if self._is_gone_through(use, use.id) else None
        if isinstance(parent, ast.Compare) and len(parent.ops) == 1 and isinstance(
                parent.ops[0], (ast.In, ast.NotIn)) and parent.left is not use:
            return "contains"
        if isinstance(parent, ast.Tuple):
            parent = self.parents.get(parent)
        return "elements" if isinstance(parent, ast.Return) else None

    def _role_of_call(self, method, call):
        holder = self.parents.get(call)
        is_statement = isinstance(holder, ast.Expr)
        if call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
            return None
        if method == "append":
            return "append" if is_statement and len(call.args) == 1 else None
        if call.args:
            return None
        if method == "clear":
            return "clear" if is_statement else None
        return "pop" if self._is_evaluated_once(call) else None

    def _is_evaluated_once(self, call):
        """Whether it may be done in front of its statement, where nothing else reads the list."""
        node = call
        while not isinstance(node, ast.stmt):
            parent = self.parents[node]
            if not isinstance(parent, _UNCONDITIONAL):
                return False
            inside, node = node, parent
        if getattr(node, "value", None) is not inside:
            return False
        name = call.func.value.id
        return all(self._method(use) == "pop" for use in self.names[name]
                   if any(use is other for other in ast.walk(node)))

    def _role_of_argument(self, call, name):
        function = call.func.id if isinstance(call.func, ast.Name) else None
        if function == "len":
            return "count"
        if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
            return None
        if function in _NOT_GIVEN_TO:
            return None
        if function in _ITERATED_BY:
            return "items" if self._is_gone_through(call, name) else None
        if function in _READ_BY:
            return "elements"
        # A module's function makes an array of it; another one may store into what it is given.
        return "copied" if isinstance(call.func, ast.Attribute) else "given"

    def _is_gone_through(self, iterable, name):
        """Whether it is what a loop goes through that does not change the list."""
        parent = self.parents.get(iterable)
        while isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and (
                parent.func.id in _ITERATED_BY):
            iterable, parent = parent, self.parents.get(parent)
        if isinstance(parent, ast.comprehension):
            return parent.iter is iterable
        return isinstance(parent, ast.For) and parent.iter is iterable and not self._changes(
            parent, name)

    def _role_of_index(self, subscript):
        index = subscript.slice
        if isinstance(index, ast.Tuple):
            return None
        if isinstance(subscript.ctx, ast.Load):
            return "part" if isinstance(index, ast.Slice) else "at"
        if isinstance(index, ast.Slice) or not isinstance(subscript.ctx, ast.Store):
            return None
        holder = self.parents.get(subscript)
        if isinstance(holder, ast.Assign) and holder.targets == [subscript]:
            return "store"
        is_update = isinstance(holder, ast.AugAssign) and all(
            isinstance(node, _PURE) for node in ast.walk(index))
        return "update" if is_update else None

    def _is_truth(self, node):
        parent = self.parents.get(node)
        if isinstance(parent, (ast.While, ast.If, ast.IfExp, ast.Assert)):
            return parent.test is node
        if isinstance(parent, ast.BoolOp):
            return self._is_truth(parent)
        return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)

    def _changes(self, loop, name):
        """Whether a loop through the list changes it."""
        inside = {node for statement in loop.body for node in ast.walk(statement)}
        return any(use in inside and (self._method(use) or isinstance(use.ctx, ast.Store))
                   for use in self.names[name])


def _arguments(function):
    given = function.args
    several = [one for one in (given.vararg, given.kwarg) if one is not None]
    return given.posonlyargs + given.args + given.kwonlyargs + several


def _free_names(function):
    """What a nested function and those within it use of what is around it, or may."""
    body = function.body if isinstance(function.body, list) else [function.body]
    used, bound = set(), {argument.arg for argument in _arguments(function)}
    inner = list(body)
    while inner:
        node = inner.pop()
        if isinstance(node, _FUNCTIONS):
            used |= _free_names(node)
            continue
        if isinstance(node, ast.Nonlocal):
            return {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        if isinstance(node, ast.Name):
            (bound if isinstance(node.ctx, ast.Store) else used).add(node.id)
        inner.extend(ast.iter_child_nodes(node))
    outside = [d for d in function.args.defaults + function.args.kw_defaults if d]
    evaluated = {n.id for d in outside for n in ast.walk(d) if isinstance(n, ast.Name)}
    return (used - bound) | evaluated


def _is_reset(statement, use):
    if isinstance(statement, ast.Assign):
        is_alone = statement.targets == [use]
    else:
        is_alone = isinstance(statement, ast.AnnAssign) and statement.target is use
    display = getattr(statement, "value", None)
    return is_alone and isinstance(display, ast.List) and not any(
        isinstance(element, (ast.Starred, ast.List)) for element in display.elts)


def _name(name, part, context=None):
    return ast.Name(f"{name}.{part}", context or ast.Load())


def _call(function, *arguments):
    return ast.Call(ast.Name(f"parakeet.list_{function}", ast.Load()), list(arguments), [])


def _both(name):
    return _name(name, "buffer"), _name(name, "count")


def _like(name):
    return _name(name, "last")


def _count_changed(name, operator):
    return ast.AugAssign(_name(name, "count", ast.Store()), operator, ast.Constant(1))


def _append(name, item):
    full = _call("is_full", *_both(name), _name(name, item))
    grown = _call("grown", *_both(name), _name(name, item))
    return [ast.If(full, [ast.Assign([_name(name, "buffer", ast.Store())], grown)], []),
            ast.Expr(_call("put", *_both(name), _name(name, item))),
            _count_changed(name, ast.Add()),
            ast.Assign([_name(name, "last", ast.Store())], _name(name, item))]


def _pop(name, part):
    raised = ast.Raise(ast.Call(ast.Name("IndexError", ast.Load()),
                                [ast.Constant("pop from empty list")], []), None)
    none_left = ast.Compare(_name(name, "count"), [ast.Eq()], [ast.Constant(0)])
    taken = _call("element", *_both(name), _like(name))
    return [ast.If(none_left, [raised], []), _count_changed(name, ast.Sub()),
            ast.Assign([_name(name, part, ast.Store())], taken)]


class _Rewriter(ast.NodeTransformer):
    """Writes statements of lists anew; `roles` says what each use of a name is."""

    def __init__(self, roles, parents):
        self.roles = roles
        self.parents = parents

    def block(self, statements):
        made = []
        for statement in statements:
            for one in self._statement(statement):
                made.append(_at(statement, one))
        return made

    def _statement(self, statement):
        if isinstance(statement, _FUNCTIONS):
            return [statement]
        for field in ("body", "orelse"):
            if isinstance(getattr(statement, field, None), list):
                setattr(statement, field, self.block(getattr(statement, field)))
        popped = self._popped(statement)
        if popped:
            return [*popped, *self._statement(statement)]
        method = self._method_of(getattr(statement, "value", None))
        if method is not None:
            return self._call_statement(statement, *method)
        target = self._target_of(statement)
        if isinstance(target, ast.Name) and self.roles.get(target) == "reset":
            return self._reset(target.id, statement.value)
        if isinstance(target, ast.Subscript) and self.roles.get(target.value) in (
                "store", "update"):
            return [self._stored(target, statement)]
        return [self.visit(statement)]

    @staticmethod
    def _target_of(statement):
        if isinstance(statement, ast.Assign):
            return statement.targets[0]
        return getattr(statement, "target", None)

    def _method_of(self, call):
        """The name and the method of a call that changes a list."""
        function = call.func if isinstance(call, ast.Call) else None
        holder = function.value if isinstance(function, ast.Attribute) else None
        role = self.roles.get(holder)
        return (holder.id, role) if role in _METHODS else None

    def _call_statement(self, statement, name, role):
        if role == "clear":
            return [ast.Assign([_name(name, "count", ast.Store())], ast.Constant(0))]
        item = ast.Assign([_name(name, "item", ast.Store())],
                          self.visit(statement.value.args[0]))
        return [item, *_append(name, "item")]

    def _popped(self, statement):
        """Statements that take from lists what the statement's value takes, then by a name."""
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)):
            return []
        made = []

        def take(node):
            for field, value in ast.iter_fields(node):
                if isinstance(value, list):
                    value[:] = [take(one) if isinstance(one, ast.AST) else one for one in value]
                elif isinstance(value, ast.AST):
                    setattr(node, field, take(value))
            method = self._method_of(node)
            if method is None or method[1] != "pop":
                return node
            part = f"popped{len(made)}"
            made.extend(_pop(method[0], part))
            return _name(method[0], part)

        if statement.value is not None:
            statement.value = take(statement.value)
        return made

    def _reset(self, name, display):
        """The elements first: they may be those of the list as it was."""
        items = [f"item{k}" for k in range(len(display.elts))]
        made = [ast.Assign([_name(name, item, ast.Store())], self.visit(element))
                for item, element in zip(items, display.elts, strict=True)]
        made.append(ast.Assign([_name(name, "count", ast.Store())], ast.Constant(0)))
        for item in items:
            made += _append(name, item)
        return made

    def _stored(self, target, statement):
        name = target.value.id
        value = self.visit(statement.value)
        index = self.visit(target.slice)
        if isinstance(statement, ast.AugAssign):
            value = ast.BinOp(_call("at", *_both(name), index, _like(name)), statement.op, value)
        return ast.Expr(_call("store", *_both(name), index, value))

    def visit_Lambda(self, node):
        return node

    def visit_Subscript(self, node):
        role = self.roles.get(node.value)
        if role not in ("at", "part"):
            return self.generic_visit(node)
        index = self.visit(node.slice)
        both = _both(node.value.id)
        if role == "at":
            return _at(node, _call("at", *both, index, _like(node.value.id)))
        return _at(node, _call("copy", ast.Subscript(_call("elements", *both), index, ast.Load())))

    def visit_Call(self, node):
        if len(node.args) == 1 and self.roles.get(node.args[0]) == "count":
            return _at(node, _name(node.args[0].id, "count"))
        return self.generic_visit(node)

    def visit_Compare(self, node):
        if self.roles.get(node.comparators[-1]) != "contains":
            return self.generic_visit(node)
        found = _call("contains", *_both(node.comparators[-1].id), self.visit(node.left))
        if isinstance(node.ops[0], ast.NotIn):
            found = ast.UnaryOp(ast.Not(), found)
        return _at(node, found)

    def visit_Name(self, node):
        role = self.roles.get(node)
        if role == "truth":
            return _at(node, ast.Compare(_name(node.id, "count"), [ast.Gt()], [ast.Constant(0)]))
        if role == "items":
            return _at(node, _call("items", *_both(node.id), _like(node.id)))
        if role in ("elements", "given"):
            return _at(node, _call(role, *_both(node.id)))
        if role == "copied":
            return _at(node, _call("copy", _call("elements", *_both(node.id))))
        return node


def _at(old, new):
    """The new node with all that is new in it at the place of the old one."""
    for node in ast.walk(new):
        if isinstance(node, (ast.expr, ast.stmt)) and not hasattr(node, "lineno"):
            ast.copy_location(node, old)
    return new
