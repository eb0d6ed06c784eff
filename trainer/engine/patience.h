#pragma once

#include <mishap/trainer/engine/loader_options.h>

#include <chrono>
#include <functional>

namespace mishap::detail {

/// How long a torch::data loader waits before it lets us look around.
std::chrono::milliseconds poll_interval(const LoaderOptions& options);

/// Calls `fetch` until it has a batch: each time the torch::data queue has
/// waited one poll_interval() in vain, signals of the current run are honoured
/// and the wait goes on, up to LoaderOptions::timeout.
bool wait_patiently(const LoaderOptions& options,
                    const std::function<bool()>& fetch);

}  // namespace mishap::detail
