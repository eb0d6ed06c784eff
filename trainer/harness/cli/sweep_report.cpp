#include <mishap/faultinject/sweep/output.h>
#include <mishap/trainer/guard/contract.h>
#include <mishap/trainer/harness/cli/github.h>
#include <mishap/trainer/harness/cli/sweep_report.h>
#include <mishap/trainer/harness/cli/values.h>

#include <cstdio>
#include <optional>
#include <string_view>

namespace mishap::cli {
namespace {

namespace sweep = faultinject::sweep;

constexpr std::size_t kShown = 10;

std::string one_decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string described(const sweep::Case& failing,
                      const sweep::Verdict& verdict) {
  std::string text(to_string(verdict.outcome));
  for (const std::string& clause : verdict.violated) {
    text += ' ' + clause;
  }
  text += ": " + failing.entry_point + ", " + failing.action + " at hit " +
          std::to_string(failing.hit) + " of ";
  text += name_of(failing.point);
  if (failing.second) {
    text +=
        ", then at hit " + std::to_string(failing.second->hit.index) + " of ";
    text += name_of(failing.second->hit.point);
  }
  if (!verdict.note.empty()) {
    text += ": " + verdict.note;
  }
  return text;
}

Table outcomes(const sweep::Summary& summary) {
  std::vector<std::string> head{"entry point", "hits", "cases", "ran"};
  std::vector<sweep::Outcome> columns;
  for (std::size_t i = 0; i < sweep::kOutcomes; ++i) {
    const auto outcome = static_cast<sweep::Outcome>(i);
    columns.push_back(outcome);
    head.emplace_back(to_string(outcome));
  }
  Table table(std::move(head));
  const auto add = [&](const std::string& name, std::uint64_t hits,
                       std::uint64_t cases, const sweep::Tally& tally) {
    std::vector<std::string> row{name, std::to_string(hits),
                                 std::to_string(cases),
                                 std::to_string(tally.ran)};
    for (const sweep::Outcome outcome : columns) {
      row.push_back(std::to_string(tally[outcome]));
    }
    table.add(std::move(row));
  };
  for (const sweep::EntryPointRow& row : summary.entry_points) {
    add(row.name, row.hits, row.cases, row.tally);
  }
  add("all", summary.hits, summary.cases, summary.tally);
  return table;
}

std::string_view title(const std::string& name) {
  for (std::size_t i = 0; i < kClauseCount; ++i) {
    const auto clause = static_cast<Clause>(i);
    if (to_string(clause) == name) {
      return title_of(clause);
    }
  }
  return "";
}

Table clauses(const sweep::Summary& summary) {
  Table table({"clause", "checked", "violated"});
  for (std::size_t i = 0; i < kClauseCount; ++i) {
    for (const sweep::ClauseRow& row : summary.clauses) {
      if (row.name == to_string(static_cast<Clause>(i))) {
        table.add({row.name + ' ' + std::string(title(row.name)),
                   std::to_string(row.checked), std::to_string(row.violated)});
      }
    }
  }
  return table;
}

std::string verdict_of(const sweep::Summary& summary) {
  std::string text = counted(summary.tally.ran, "case") + " in " +
                     one_decimal(summary.seconds) + " s (" +
                     one_decimal(summary.cases_per_second()) + " a second), " +
                     counted(summary.tally.records, "record") + ": ";
  if (summary.exit_status() != 0) {
    return text + "NOT HELD";
  }
  text += "held";
  if (summary.tally.known > 0) {
    text += ", but for " + counted(summary.tally.known, "known finding");
  }
  return text + (summary.exhaustive ? "" : " (not exhaustive)");
}

}  // namespace

void SweepReport::note(const sweep::Progress& progress) {
  if (progress.is_bad && bad_total_++ < kShown) {
    bad_.push_back({described(progress.failing, progress.verdict),
                    repeat_(progress.failing)});
  }
  if (line_.is_due()) {
    line_.show(std::to_string(progress.done) + " of " +
               std::to_string(progress.planned) + " cases, " +
               counted(bad_total_, "finding") + "  " +
               progress.failing.entry_point + "  " +
               std::string(name_of(progress.failing.point)));
  }
}

void SweepReport::note_scouting(std::uint64_t done, std::uint64_t planned) {
  if (line_.is_due()) {
    line_.show("looking for pairs: " + std::to_string(done) + " of " +
               counted(planned, "first fault"));
  }
}

void SweepReport::print(const sweep::Summary& summary,
                        const sweep::Options& options, bool json) {
  line_.clear();
  if (github::is_here()) {
    for (const Bad& bad : bad_) {
      github::annotate(bad.what + "\nagain: " + bad.repeat);
    }
    github::add_to_summary(
        "### Mishap sweep\n\n" + outcomes(summary).markdown() + '\n' +
        clauses(summary).markdown() + '\n' + verdict_of(summary));
  }
  if (json) {
    std::fputs(summary_json(summary, options).c_str(), stdout);
    return;
  }
  std::printf("%s\n%s\n", outcomes(summary).text().c_str(),
              clauses(summary).text().c_str());
  for (const sweep::EntryPointRow& row : summary.entry_points) {
    if (!row.difference.empty()) {
      std::printf("%s does not repeat: %s\n\n", row.name.c_str(),
                  row.difference.c_str());
    }
  }
  for (const Bad& bad : bad_) {
    std::printf("%s\n  again: %s\n\n", bad.what.c_str(), bad.repeat.c_str());
  }
  if (bad_total_ > bad_.size()) {
    std::printf("... and %s more; cases.jsonl has them all\n\n",
                counted(bad_total_ - bad_.size(), "finding").c_str());
  }
  std::printf(
      "%s\nfiles: %s/{summary.json,cases.jsonl,records.jsonl,"
      "runs.jsonl}\n",
      verdict_of(summary).c_str(), options.out.c_str());
}

}  // namespace mishap::cli
