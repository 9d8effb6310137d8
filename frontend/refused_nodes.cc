#include "frontend/refused_nodes.h"

#include "ir/diagnostics.h"

namespace parakeet::frontend {
namespace {

struct RefusedNode {
  const char* kind;
  const char* construct;
  const char* advice;
};

constexpr RefusedNode kRefusedNodes[] = {
    {"AsyncFor", "`async for`", "write a plain `for`"},
    {"AsyncFunctionDef", "`async def`", "write a plain `def`"},
    {"AsyncWith", "`async with`", "enter the context around the call of the jitted function"},
    {"Await", "`await`", "await before calling the jitted function and pass the result"},
    {"ClassDef", "`class`", "use tuples of arrays and nested functions"},
    {"Dict", "a dict", "use a tuple, or one array for keys and one for values"},
    {"DictComp", "a dict comprehension", "use a list comprehension, which makes an array"},
    {"Global", "`global`", "pass the value as an argument and return the new one"},
    {"Import", "`import`", "import at the top of the module"},
    {"ImportFrom", "`import`", "import at the top of the module"},
    {"Match", "`match`", "use `if` and `elif`"},
    {"Nonlocal", "`nonlocal`", "return the new value from the nested function and assign it"},
    {"Set", "a set", "use a tuple or an array"},
    {"SetComp", "a set comprehension", "use a list comprehension, and np.unique on its array"},
    {"TemplateStr", "a template string", "use an f-string in `raise` or `assert`"},
    {"Try", "`try`", "check conditions with `if` and `raise`"},
    {"TryStar", "`try`", "check conditions with `if` and `raise`"},
    {"TypeAlias", "`type`", "define the alias at the top of the module"},
    {"With", "`with` of other than np.errstate",
     "enter the context around the call of the jitted function"},
    {"Yield", "`yield`", "return an array, or a tuple of arrays"},
    {"YieldFrom", "`yield from`", "return an array, or a tuple of arrays"},
};

}  // namespace

void RefuseNode(const std::string& kind, ir::Span span) {
  for (const RefusedNode& row : kRefusedNodes) {
    if (kind == row.kind) RefuseConstruct(row.construct, row.advice, span);
  }
  RefuseConstruct("the syntax `" + kind + "`",
                  "use statements and expressions of the language page", span);
}

void RefuseConstruct(const std::string& construct, const std::string& advice, ir::Span span) {
  ir::FailLimitation(construct + " is not supported inside jit; " + advice, span);
}

}  // namespace parakeet::frontend
