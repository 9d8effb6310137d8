#ifndef PARAKEET_PASSES_ANALYSES_FIND_STEPS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_STEPS_H_

#include <string>
#include <vector>

#include "ir/node.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// What a sequential loop does to the elements that it goes through: maps over one index space, each
// element of which depends on itself alone from step to step.
struct Steps {
  // An array of which each index of the space reads and writes one element, the same at every step.
  struct Held {
    const ir::Var* array = nullptr;
    std::vector<LinearForm> place;  // in terms of indexes()
  };

  std::vector<const ir::Binding*> nests;  // imaps and foreachs
  std::vector<ir::Operand> extents;
  std::vector<Held> held;
  ir::Attributes order;  // of the arrays that are carried on: `fortran` or nothing
  // After how many steps all that is carried has been made by one: 1, or more where arrays are
  // handed on to the next step under another name.
  int64_t until_made = 1;

  const std::vector<const ir::Var*>& indexes() const { return nests[0]->blocks[0]->params; }
};

// Reads the steps of a `for` of the function that `roots` and `forms` are of. Returns why it is no
// such loop; with no nests in `steps` where it does not look like one.
std::string FindSteps(const ir::Binding& loop, const Roots& roots, const WrappingForms& forms,
                      Steps& steps);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_STEPS_H_
