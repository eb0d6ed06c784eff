#pragma once

namespace mishap::collector {

/// Teaches exception chains LibTorch's types: the message of a c10::Error comes
/// without its backtrace, which is kept apart, and subclasses keep their type;
/// a torch::data::WorkerException names the worker's own exception as its
/// cause. Once per process is enough, more do no harm. Thread-safe.
void register_torch_translators();

}  // namespace mishap::collector
