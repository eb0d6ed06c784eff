#include <mishap/trainer/harness/contract/checkers.h>

namespace mishap {
namespace {

class ResourcesKept final : public Checker {
 public:
  ResourcesKept(const Resources* clean, std::string folder)
      : clean_(clean), folder_(std::move(folder)) {}

  Clause clause() const noexcept override { return Clause::kC9; }
  void after() override { after_ = Resources::sample(folder_); }

  std::optional<std::string> judge(const Observation&) override {
    if (clean_ == nullptr) {
      return std::nullopt;
    }
    const std::string left = after_.beyond(*clean_);
    return left.empty() ? std::nullopt : std::optional(left);
  }

 private:
  const Resources* clean_;
  std::string folder_;
  Resources after_;
};

}  // namespace

std::unique_ptr<Checker> check_resources(const Resources* clean,
                                         std::string folder) {
  return std::make_unique<ResourcesKept>(clean, std::move(folder));
}

}  // namespace mishap
