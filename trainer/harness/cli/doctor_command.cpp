#include <mishap/trainer/harness/cli/command_line.h>
#include <mishap/trainer/harness/cli/doctor_command.h>
#include <mishap/trainer/harness/cli/terminal.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace mishap::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* colour_of(Finding::Status status) {
  switch (status) {
    case Finding::Status::kOk:
      return "32";
    case Finding::Status::kWarn:
      return "33";
    case Finding::Status::kFail:
      break;
  }
  return "31";
}

// One probe that fails must not cost the others.
Finding look(const Probe& probe) {
  try {
    return probe.look();
  } catch (const std::exception& error) {
    return {Finding::Status::kFail, error.what(), ""};
  }
}

void print(const Probe& probe, const Finding& finding) {
  const std::string word(to_string(finding.status));
  const bool colour = wants_colour(stdout);
  std::printf(
      "%s%s%s%*s %-16s %s%s%s\n",
      colour ? ("\x1b[" + std::string(colour_of(finding.status)) + 'm').c_str()
             : "",
      word.c_str(), colour ? "\x1b[0m" : "", static_cast<int>(4 - word.size()),
      "", probe.name.c_str(), finding.text.c_str(),
      finding.advice.empty() ? "" : "; ", finding.advice.c_str());
}

int run(const std::vector<Probe>& probes, const Invocation& invocation) {
  bool json = false;
  CommandLine line(invocation, "Says whether capture works here.");
  line.flag("--json", json, "print JSON");
  if (!line.parse()) {
    return 0;
  }
  Json list = Json::array();
  int status = 0;
  for (const Probe& probe : probes) {
    const Finding finding = look(probe);
    if (finding.status == Finding::Status::kFail) {
      status = 1;
    }
    if (json) {
      list.push_back({{"name", probe.name},
                      {"status", to_string(finding.status)},
                      {"finding", finding.text},
                      {"advice", finding.advice}});
    } else {
      print(probe, finding);
    }
  }
  if (json) {
    const Json all{{"probes", std::move(list)}, {"ok", status == 0}};
    std::puts(all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  }
  return status;
}

}  // namespace

Command doctor_command(std::vector<Probe> probes) {
  return {"doctor", "say whether capture works on this machine",
          [probes = std::move(probes)](const Invocation& invocation) {
            return run(probes, invocation);
          }};
}

}  // namespace mishap::cli
