#include <mishap/trainer/engine/collate.h>

#include <utility>

namespace mishap {

Batch collate(Batch batch) { return batch; }

Batch collate(torch::data::Example<> stacked) {
  return Batch{std::move(stacked.data), std::move(stacked.target), {}};
}

Batch collate(torch::data::TensorExample stacked) {
  return Batch{std::move(stacked.data), {}, {}};
}

Batch collate(const std::vector<torch::data::Example<>>& examples) {
  std::vector<torch::Tensor> data;
  std::vector<torch::Tensor> target;
  data.reserve(examples.size());
  target.reserve(examples.size());
  for (const torch::data::Example<>& example : examples) {
    data.push_back(example.data);
    target.push_back(example.target);
  }
  return Batch{torch::stack(data), torch::stack(target), {}};
}

Batch collate(const std::vector<torch::data::TensorExample>& examples) {
  std::vector<torch::Tensor> data;
  data.reserve(examples.size());
  for (const torch::data::TensorExample& example : examples) {
    data.push_back(example.data);
  }
  return Batch{torch::stack(data), {}, {}};
}

}  // namespace mishap
