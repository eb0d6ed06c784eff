#include <dlfcn.h>
#include <mishap/collector/throw_hook.h>
#include <mishap/trainer/harness/cli/child.h>
#include <mishap/trainer/harness/cli/debug_files.h>
#include <mishap/trainer/harness/cli/probe_parts.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace mishap::cli {
namespace {

using Status = Finding::Status;

// The file whose __cxa_throw the whole process uses.
std::string file_of_throw() {
  void* symbol = dlsym(RTLD_DEFAULT, "__cxa_throw");
  Dl_info info{};
  if (symbol == nullptr || dladdr(symbol, &info) == 0 ||
      info.dli_fname == nullptr) {
    return {};
  }
  return info.dli_fname;
}

Finding look_at_link() {
  const std::string file = file_of_throw();
  const std::string name = file.substr(file.rfind('/') + 1);
  if (name.starts_with("libmishap_preload")) {
    return {Status::kOk, "preloaded: " + file, ""};
  }
  if (collector::hook_is_live()) {
    // An executable that exports no symbols hides its own from this question.
    return {Status::kOk, "linked into this executable", ""};
  }
  return {Status::kFail,
          "none: throws go to " + (file.empty() ? "nowhere" : file),
          "link mishap::guard, or start with LD_PRELOAD=libmishap_preload.so"};
}

Finding look_at_later_names() {
  const ChildResult found = run_child({"addr2line", "--version"}, {});
  if (found.status != 0) {
    return {Status::kWarn, "no addr2line, so show cannot name stored frames",
            "install binutils"};
  }
  return {Status::kOk, "show names stored frames with addr2line", ""};
}

Finding look_at_later_names_or_say() {
  try {
    return look_at_later_names();
  } catch (const std::exception&) {
    return {Status::kWarn, "no addr2line, so show cannot name stored frames",
            "install binutils"};
  }
}

Finding look_at_debuginfod() {
  const char* urls = std::getenv("DEBUGINFOD_URLS");
  if (urls == nullptr || *urls == '\0') {
    return {Status::kOk,
            "no server is set; DEBUGINFOD_URLS names one for libraries without "
            "debug files",
            ""};
  }
  constexpr const char* kTimeout = "DEBUGINFOD_TIMEOUT";
  const bool has_timeout = std::getenv(kTimeout) != nullptr;
  if (!has_timeout) {
    setenv(kTimeout, "5", 1);
  }
  // Nobody has this one: a server that is there says so.
  const Debuginfod answer = ask_debuginfod(std::string(40, '0'));
  if (!has_timeout) {
    unsetenv(kTimeout);
  }
  if (answer.error == ENOENT || !answer.path.empty()) {
    return {Status::kOk, std::string("a server answers: ") + urls, ""};
  }
  if (answer.error == ELIBACC) {
    return {Status::kWarn, "DEBUGINFOD_URLS is set, libdebuginfod is not here",
            "install libdebuginfod1"};
  }
  return {Status::kWarn,
          std::string("no answer from ") + urls + ": " +
              std::strerror(answer.error),
          "unset DEBUGINFOD_URLS, or mishap show waits for it"};
}

}  // namespace

std::vector<Probe> probes_of_names() {
  return {{"link level", look_at_link},
          {"names later", look_at_later_names_or_say},
          {"debuginfod", look_at_debuginfod}};
}

}  // namespace mishap::cli
