// Leaves products of matrices of floats to the library that the device of a call has, where there
// is one: to cuBLAS.
//
// Before:
//   contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {parallel = 1, free = 2} { load %X[%i, %k]
//   load %Y[%k, %j]  mul  yield }
// After:
//   contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {parallel = 1, free = 2, callee = "matmul"}
//   { the same }
//
// lower_to_loops writes the call, and the kernel for where the library is not there or does not
// take the product. A factor that is more than an element of an array (`2 * X`, a cast) is made
// before it, as an array: each element of it is read as often as there are columns. What is made of
// the sums is a kernel of its own behind the call: it goes through the result once more, which
// costs less than the library saves as soon as sums are as long as those of products that are worth
// a call.
//
// Assumes: schedule has run; index structure alone is looked at, never how the user spelled it.
// Refuses: sums in another dtype or by another combine, or that begin elsewhere than at 0; terms
// that are no product of two factors, each of which follows what is summed over and an index that
// the other does not; a product that stands in something parallel, whose threads make it
// themselves.
#include "ir/mutator.h"
#include "passes/analyses/find_products.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;

class LibraryCaller : public ir::Mutator {
 public:
  LibraryCaller(ir::Arena* arena, Context& context) : Mutator(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kContract) return Mutator::Visit(b);
    std::string why;
    if (b->attrs.Int(Attr::kParallel) == 0) {
      why = "what stands around it is spread over threads";
    } else if (FindProduct(*b, &why)) {
      Binding called = *Rewrite(b);
      called.attrs = called.attrs.With(Attr::kCallee, std::string("matmul"));
      context_.Note(b->span, "left to cuBLAS where it is found", Topic::kContraction,
                    Verdict::kDone);
      return builder().Append(arena()->New(std::move(called)));
    }
    context_.Note(b->span, "not left to cuBLAS: " + why, Topic::kContraction);
    Mutator::Visit(b);
  }

 private:
  Context& context_;
};

}  // namespace

ir::Program CallLibraries(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LibraryCaller(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
