#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::cli {

// Each throws InputError in one sentence; `what` names the option or setting
// in it, for example "--seed".

std::uint64_t unsigned_number(std::string_view what, std::string_view text);

std::int64_t whole_number(std::string_view what, std::string_view text,
                          std::int64_t low, std::int64_t high);

double number(std::string_view what, std::string_view text, double low,
              double high);

/// `text`, which has to be one of the words.
std::string one_of(std::string_view what, const std::string& text,
                   std::span<const std::string_view> words);

/// "name=value" taken apart; the value may be empty.
std::pair<std::string, std::string> assignment(std::string_view what,
                                               const std::string& text);

/// The path made absolute; InputError when there is no current folder.
std::string absolute_path(std::string_view what, const std::string& path);

/// "1 case", "2 cases".
std::string counted(std::uint64_t count, std::string_view what);

/// Cuts at commas that stand in no brackets and no quotes, and trims.
std::vector<std::string> list(std::string_view text);

}  // namespace mishap::cli
