#pragma once

#include <mishap/trainer/guard/contract.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <mishap/trainer/harness/contract/resources.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace mishap {

/// The checkers that need no LibTorch: C1 to C6, the signals of C7, the
/// kernel's part of C9, C12, C13.
///
/// `clean` is what one clean run of the same world left in the kernel; null
/// while that is being measured. `folder` is where the run writes.
/// `cleanup_limit` is the one that the run was given.
std::vector<std::unique_ptr<Checker>> standard_checkers(
    const Resources* clean, std::string folder,
    std::chrono::milliseconds cleanup_limit = GuardOptions{}.cleanup_limit);

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
/// C13: of the pieces in `cleanup` of a record those that took longer than the
/// limit, by their own figure or by that of a spy (JournalEntry::took), and no
/// others, are timed out, and the record of one that was late for half a second
/// shows the threads. Says nothing without a limit or a record.
std::unique_ptr<Checker> check_bounded(std::chrono::milliseconds limit);

}  // namespace mishap
