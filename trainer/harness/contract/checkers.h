#pragma once

#include <mishap/trainer/guard/contract.h>
#include <mishap/trainer/harness/contract/resources.h>

#include <memory>
#include <string>
#include <vector>

namespace mishap {

/// The checkers that need no LibTorch: C1 to C6, the signals of C7, the
/// kernel's part of C9, C12.
///
/// `clean` is what one clean run of the same world left in the kernel; null
/// while that is being measured. `folder` is where the run writes.
std::vector<std::unique_ptr<Checker>> standard_checkers(const Resources* clean,
                                                        std::string folder);

std::unique_ptr<Checker> check_same_error();
std::unique_ptr<Checker> check_one_record();
std::unique_ptr<Checker> check_told_once();
std::unique_ptr<Checker> check_torn_down_once();
std::unique_ptr<Checker> check_nothing_else_runs();
std::unique_ptr<Checker> check_loggers();
std::unique_ptr<Checker> check_signal_state();
std::unique_ptr<Checker> check_resources(const Resources* clean,
                                         std::string folder);
std::unique_ptr<Checker> check_interrupts();

}  // namespace mishap
