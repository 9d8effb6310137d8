#include "pylib/compiler/dump.h"

#include <algorithm>
#include <string_view>

#include "ir/diagnostics.h"
#include "ir/printer.h"
#include "passes/pipelines.h"

namespace parakeet::pylib {
namespace {

std::string DumpIr(Compilation* compilation, std::string stage) {
  std::replace(stage.begin(), stage.end(), '_', '-');
  if (stage.empty() || stage == "parallel" || stage == "frontend") {
    return ir::Print(compilation->program());
  }
  std::string text;
  compilation->RunPasses([&](std::string_view pass, const ir::Program& program) {
    const ir::Stage after = passes::FindPass(pass)->after;
    if (pass == stage || Name(after) == stage) text = ir::Print(program);
  });
  if (!text.empty()) return text;
  std::string known = "parallel, indexed, scheduled";
  for (std::string_view pass : passes::CpuPipeline()) {
    if (known.find(pass) == known.npos) known += ", " + std::string(pass);
  }
  ir::FailUser("ValueError", "no stage or pass is called " + stage + "; there are " + known, {});
}

}  // namespace

std::string Dump(Compilation* compilation, const std::string& what, const std::string& stage) {
  if (what == "ir") return DumpIr(compilation, stage);
  if (what != "llvm" && what != "asm") {
    ir::FailUser("ValueError", "cannot show " + what + "; expected ir, llvm or asm", {});
  }
  compilation->RunPasses();
  const backends::Compiled compiled = compilation->Generate(what == "llvm", what == "asm");
  return what == "llvm" ? compiled.llvm_ir : compiled.assembly;
}

}  // namespace parakeet::pylib
