#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace mishap::fuzz {

/// A finding: says what is wrong and ends the process as fuzzers expect.
inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "finding: %s\n", what.c_str());
  std::abort();
}

}  // namespace mishap::fuzz
