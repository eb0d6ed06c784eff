#include <dlfcn.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/resolve/resolver.h>
#include <mishap/collector/throw_hook.h>
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

// As show does for a record of another process: from the file alone.
Finding look_at_later_names() {
  collector::refresh_modules();
  const auto address = reinterpret_cast<std::uintptr_t>(&standard_probes);
  const int index = collector::find_module(address);
  if (index == collector::kNoModule) {
    return {Status::kWarn, "this program's own file is not known",
            "is /proc mounted?"};
  }
  const collector::Module& module =
      collector::module_at(static_cast<std::size_t>(index));
  const std::string file =
      DebugFiles({}).find(module.path, module.build_id_hex());
  if (!file.empty() &&
      !collector::names_in_file(file, address - module.load_address, false)
           .empty()) {
    return {Status::kOk, "show names stored frames of this program", ""};
  }
  return {
      Status::kWarn, "show cannot name stored frames of this program",
      "keep a copy that is not stripped and give its folder to --debug-dir"};
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
          {"names later", look_at_later_names},
          {"debuginfod", look_at_debuginfod}};
}

}  // namespace mishap::cli
