#pragma once

namespace at {
class Tensor;
}

namespace mishap {

/// Lets records of this process hold LibTorch's state: modes, allocator,
/// devices, warnings, and the exceptions' own types and messages. Once is
/// enough, more do no harm. Thread-safe.
void watch_torch_state();

/// Gives the tensors of the batch that the calling thread works on to `add`;
/// set by the engine's owner, since the harness knows no engine.
using BatchVisitor = void (*)(const char* name, const at::Tensor& tensor,
                              void* data);
using BatchSource = void (*)(BatchVisitor add, void* data);
void set_batch_source(BatchSource source) noexcept;

/// Says whether the module that the calling thread works on is in training
/// mode; -1 when there is none.
using TrainingFlagSource = int (*)();
void set_training_flag_source(TrainingFlagSource source) noexcept;

}  // namespace mishap
