// A guarded program that fails in functions of its own, after it did to its own
// file what it is told: "rename PATH", "delete", or nothing.
#include <mishap/guard.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace app {

// Not to be folded into one another, whatever the level of optimisation.
[[gnu::noinline]] void parse_row(int row) {
  if (row > 0) {
    throw std::runtime_error("row " + std::to_string(row) + " is bad");
  }
}

[[gnu::noinline]] void load_rows(int rows) {
  parse_row(rows);
  asm volatile("");
}

[[gnu::noinline]] void descend(int depth) {
  if (depth == 0) {
    load_rows(3);
  } else {
    descend(depth - 1);
  }
  asm volatile("");
}

}  // namespace app

int main(int argc, char** argv) {
  return mishap::guarded_main(argc, argv, [argc, argv] {
    mishap::guard("fit", [argc, argv](mishap::Run& run) {
      run.step(0);
      const std::string_view what = argc > 1 ? argv[1] : "";
      if (what == "rename" && argc > 2) {
        std::rename(argv[0], argv[2]);
      } else if (what == "delete") {
        std::remove(argv[0]);
      }
      app::descend(6);
    });
  });
}
