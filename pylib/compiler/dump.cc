#include "pylib/compiler/dump.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "ir/diagnostics.h"
#include "ir/printer.h"
#include "passes/pipelines.h"
#include "pylib/compiler/account.h"
#include "pylib/compiler/write_account.h"

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
  for (std::string_view pass : compilation->pipeline()) {
    if (known.find(pass) == known.npos) known += ", " + std::string(pass);
  }
  ir::FailUser("ValueError", "no stage or pass is called " + stage + "; there are " + known, {});
}

std::string DumpAccount(Compilation* compilation) {
  ir::Program built = compilation->program(), scheduled;
  if (compilation->target() != Target::kInterpreter) {
    compilation->RunPasses([&](std::string_view pass, const ir::Program& program) {
      if (pass == "inline-calls") built = program;
      if (passes::FindPass(pass)->after == ir::Stage::kIndexed) scheduled = program;
    });
  }
  const ir::Program& final = scheduled.functions.empty() ? scheduled : compilation->program();
  const Account account = AccountFor(built, scheduled, final, HasDevice(compilation->target()));
  return WriteAccount(account, compilation->remarks(), compilation->sources());
}

std::string DumpPtx(Compilation* compilation, const std::string& architecture) {
  if (compilation->target() != Target::kGpu) {
    ir::FailLimitation("there is PTX for target 'gpu' alone: other targets run code of the host",
                       {});
  }
  if (!architecture.empty()) compilation->set_gpu_architecture(std::atoi(architecture.c_str()));
  compilation->RunPasses();
  return compilation->Generate(false, false).ptx;
}

}  // namespace

std::string Dump(Compilation* compilation, const std::string& what, const std::string& stage) {
  if (what == "ir") return DumpIr(compilation, stage);
  if (what == "account") return DumpAccount(compilation);
  if (what == "ptx") return DumpPtx(compilation, stage);
  if (what != "llvm" && what != "asm") {
    ir::FailUser("ValueError", "cannot show " + what + "; expected ir, llvm, asm, ptx or account",
                 {});
  }
  compilation->RunPasses();
  const backends::Compiled compiled = compilation->Generate(what == "llvm", what == "asm");
  return what == "llvm" ? compiled.llvm_ir : compiled.assembly;
}

}  // namespace parakeet::pylib
