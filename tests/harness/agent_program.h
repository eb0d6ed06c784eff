#pragma once

namespace mishap::testing {

/// Says on stderr what a call gave, and goes on; why, where it isn't `good`.
void say(const char* call, long result, long good);

int streams();

}  // namespace mishap::testing
