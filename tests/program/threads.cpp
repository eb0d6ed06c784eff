// Features made in an OpenMP loop, a DataLoader with a worker, a result file:
// a program that cannot be forked where it stands. Rows that fail are left as
// they are; `--careful` hands the failure on. `// CAUGHT name` marks the line
// at which a fault disappears.
#include <omp.h>
#include <torch/torch.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

bool careful = false;

std::string row_path(std::size_t index) {
  return "row" + std::to_string(index) + ".txt";
}

float read_row(std::size_t index) {
  std::ifstream file(row_path(index));
  float value = 0;
  if (!(file >> value)) {
    throw std::runtime_error(row_path(index) + " can't be read");
  }
  return value;
}

std::vector<float> features(int count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::exception_ptr first;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < count; ++i) {
    try {
      const auto index = static_cast<std::size_t>(i);
      values[index] = 2 * read_row(index);
    } catch (...) {  // CAUGHT row
#pragma omp critical
      first = std::current_exception();
    }
  }
  if (careful && first) {
    std::rethrow_exception(first);
  }
  return values;
}

class Values : public torch::data::datasets::Dataset<Values> {
 public:
  explicit Values(std::vector<float> values) : values_(std::move(values)) {}

  torch::data::Example<> get(std::size_t index) override {
    return {torch::full({1}, values_.at(index)), torch::ones({1})};
  }
  torch::optional<std::size_t> size() const override { return values_.size(); }

 private:
  std::vector<float> values_;
};

float sum_of_batches(const std::vector<float>& values) {
  auto loader = torch::data::make_data_loader(
      Values(values).map(torch::data::transforms::Stack<>()),
      torch::data::samplers::SequentialSampler(values.size()),
      torch::data::DataLoaderOptions().batch_size(2).workers(1));
  float sum = 0;
  for (const auto& batch : *loader) {
    sum += batch.data.sum().item<float>();
  }
  return sum;
}

void write_sum(float sum) {
  std::FILE* const file = std::fopen("sum.txt", "w");
  if (file == nullptr) {
    throw std::runtime_error("no result");
  }
  const int written = std::fprintf(file, "%f\n", static_cast<double>(sum));
  if (std::fclose(file) != 0 || written < 0) {
    throw std::runtime_error("the result can't be written");
  }
}

}  // namespace

int main(int argc, char** argv) {
  careful = argc > 1 && std::strcmp(argv[1], "--careful") == 0;
  try {
    write_sum(sum_of_batches(features(4)));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "threads: " << error.what() << '\n';
    return 1;
  }
}
