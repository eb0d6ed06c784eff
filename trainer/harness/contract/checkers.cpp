#include <mishap/trainer/harness/contract/checkers.h>

namespace mishap {

std::vector<std::unique_ptr<Checker>> standard_checkers(
    const Resources* clean, std::string folder,
    std::chrono::milliseconds cleanup_limit) {
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(check_same_error());
  checkers.push_back(check_one_record());
  checkers.push_back(check_told_once());
  checkers.push_back(check_torn_down_once());
  checkers.push_back(check_nothing_else_runs());
  checkers.push_back(check_loggers());
  checkers.push_back(check_signal_state());
  checkers.push_back(check_resources(clean, std::move(folder)));
  checkers.push_back(check_interrupts());
  checkers.push_back(check_bounded(cleanup_limit));
  return checkers;
}

}  // namespace mishap
