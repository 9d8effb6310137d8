#ifndef PARAKEET_PASSES_PIPELINES_H_
#define PARAKEET_PASSES_PIPELINES_H_

#include <string_view>
#include <vector>

namespace parakeet::passes {

// The order of passes for serial and parallel targets, from the frontend's IR to what backends/
// takes.
const std::vector<std::string_view>& CpuPipeline();

// The same with marks at what time is told of by itself (mark_regions.cc).
const std::vector<std::string_view>& ProfiledPipeline();

// That for GPUs, the emulated one too.
const std::vector<std::string_view>& GpuPipeline();

// The pipeline of that name ("cpu", "profiled" or "gpu"), or null.
const std::vector<std::string_view>* FindPipeline(std::string_view name);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_PIPELINES_H_
