#include <mishap/collector/label/plain_name.h>
#include <mishap/faultinject/stable_hash.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/stack_memory.h>
#include <stdio.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace mishap::program {
namespace {

std::string tried_key(const std::string& stack_key,
                      const faultinject::sweep::Case& failing) {
  return stack_key + ' ' + failing.action + ' ' +
         std::string(to_string(failing.mode));
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// "file:line function" without the line.
std::string python_name(const std::string& line) {
  const std::size_t space = line.rfind(' ');
  const std::size_t colon = line.rfind(':', space);
  if (space == std::string::npos || colon == std::string::npos) {
    return line;
  }
  return file_name(line.substr(0, colon)) + line.substr(space);
}

std::string text_of(const SeenStack& stack, FrameNames& names,
                    const ModuleList& modules) {
  std::string text = stack.point + '\n';
  std::istringstream python(stack.python);
  for (std::string line; std::getline(python, line);) {
    text += python_name(line) + '\n';
  }
  for (const Place& place : stack.frames) {
    if (place.module >= modules.all().size()) {
      continue;
    }
    const auto& found = names.of(place);
    const std::string module = file_name(modules.all()[place.module].path);
    if (found.empty()) {
      // Of a library without names only that it is there: its code moves with
      // every version.
      text += module + '\n';
    }
    for (const collector::NamedFrame& frame : found) {
      collector::PlainName plain;
      collector::plain_name(frame.function, plain);
      text += std::string(plain.view()) + '\n';
    }
  }
  return text;
}

}  // namespace

StackMemory::StackMemory(std::string path) : path_(std::move(path)) {
  std::ifstream file(path_);
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    try {
      tried_.insert(nlohmann::json::parse(line).at("tried").get<std::string>());
    } catch (const nlohmann::json::exception&) {
      throw InputError("line " + std::to_string(number) + " of --stacks " +
                       path_ +
                       " is none of a file of stacks; name the one that an "
                       "earlier sweep wrote, or a new one");
    }
  }
}

bool StackMemory::knows(const std::string& stack_key,
                        const faultinject::sweep::Case& failing) const {
  return tried_.contains(tried_key(stack_key, failing));
}

void StackMemory::add(const std::string& stack_key,
                      const faultinject::sweep::Case& failing) {
  tried_.insert(tried_key(stack_key, failing));
}

void StackMemory::save() const {
  if (path_.empty()) {
    return;
  }
  const std::string next = path_ + ".next";
  std::ofstream file(next, std::ios::trunc);
  for (const std::string& key : tried_) {
    file << nlohmann::json{{"tried", key}}.dump(
                -1, ' ', false, nlohmann::json::error_handler_t::replace)
         << '\n';
  }
  file.close();
  if (!file || std::rename(next.c_str(), path_.c_str()) != 0) {
    throw InputError("--stacks: " + path_ +
                     " can't be written; name a file in a folder that is "
                     "writable and has room");
  }
}

std::vector<std::string> stack_keys(const std::vector<SeenStack>& stacks,
                                    FrameNames& names,
                                    const ModuleList& modules) {
  std::vector<Place> places;
  for (const SeenStack& stack : stacks) {
    places.insert(places.end(), stack.frames.begin(), stack.frames.end());
  }
  names.look_up(places);
  std::map<std::string, int> times;
  std::vector<std::string> keys;
  for (const SeenStack& stack : stacks) {
    const std::string text = text_of(stack, names, modules);
    char hash[32];
    std::snprintf(
        hash, sizeof hash, "%016llx",
        static_cast<unsigned long long>(faultinject::stable_hash(text)));
    const std::string key = stack.point + ' ' + hash;
    const int number = ++times[key];
    keys.push_back(number == 1 ? key : key + '#' + std::to_string(number));
  }
  return keys;
}

}  // namespace mishap::program
