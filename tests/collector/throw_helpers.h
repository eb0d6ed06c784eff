#pragma once

#include <exception>
#include <utility>

namespace sample {

template <typename Function>
std::exception_ptr caught(Function&& function) {
  try {
    std::forward<Function>(function)();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace sample
