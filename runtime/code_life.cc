#include "runtime/code_life.h"

#include <utility>

namespace parakeet::runtime {
namespace {

thread_local const CodeLife* of_thread = nullptr;

}  // namespace

CodeOfThread::CodeOfThread(CodeLife life)
    : life_(std::move(life)), before_(std::exchange(of_thread, &life_)) {}

CodeOfThread::~CodeOfThread() { of_thread = before_; }

const CodeLife* CodeOfThread::Current() { return of_thread; }

}  // namespace parakeet::runtime
