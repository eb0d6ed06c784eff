#include <mishap/faultinject/sweep/known.h>
#include <mishap/faultinject/sweep/output.h>
#include <mishap/trainer/harness/cli/github.h>
#include <mishap/trainer/harness/cli/table.h>
#include <mishap/trainer/harness/cli/values.h>
#include <mishap/trainer/harness/program/catch_line.h>
#include <mishap/trainer/harness/program/program_report.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

namespace mishap::program {
namespace {

namespace sweep = faultinject::sweep;
using cli::counted;
using sweep::Outcome;

constexpr std::size_t kWorst = 5;
constexpr std::size_t kStackLines = 6;

// Of two findings the one with the smaller number is worse.
int rank_of(const sweep::Verdict& verdict) {
  if (std::ranges::find(verdict.violated, "atomic") != verdict.violated.end() ||
      std::ranges::find(verdict.violated, "rerun") != verdict.violated.end()) {
    return 0;
  }
  switch (verdict.outcome) {
    case Outcome::kCrashed:
      return 1;
    case Outcome::kHung:
      return 2;
    case Outcome::kSwallowed:
      return 3;
    case Outcome::kViolated:
      return 4;
    default:
      return 5;
  }
}

std::vector<std::string> stack_lines(const FaultStory& story,
                                     const FrameNames& names) {
  std::vector<std::string> lines;
  std::istringstream python(story.hit_python);
  for (std::string text;
       std::getline(python, text) && lines.size() < kStackLines;) {
    if (const auto line = python_line(text)) {
      lines.push_back(text_of(*line));
    }
  }
  for (const Place& place : story.hit_frames) {
    for (const collector::NamedFrame& frame : names.of(place)) {
      if (frame.in_app && lines.size() < kStackLines) {
        lines.push_back(
            text_of(SourceLine{frame.function, frame.file, frame.line}));
      }
    }
  }
  return lines;
}

std::string clauses_of(const sweep::Verdict& verdict) {
  std::string text;
  for (const std::string& clause : verdict.violated) {
    text += ' ' + clause;
  }
  return text;
}

cli::Table outcomes(const std::map<std::string, sweep::Tally>& layers,
                    const sweep::Summary& summary) {
  std::vector<std::string> head{"layer", "cases"};
  std::vector<Outcome> columns;
  for (std::size_t i = 0; i < sweep::kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    columns.push_back(outcome);
    head.emplace_back(to_string(outcome));
  }
  cli::Table table(std::move(head));
  const auto add = [&](const std::string& name, const sweep::Tally& tally) {
    std::vector<std::string> row{name, std::to_string(tally.ran)};
    for (const Outcome outcome : columns) {
      row.push_back(std::to_string(tally[outcome]));
    }
    table.add(std::move(row));
  };
  for (const auto& [layer, tally] : layers) {
    add(layer, tally);
  }
  add("all", summary.tally);
  return table;
}

cli::Table clauses(const sweep::Summary& summary) {
  cli::Table table({"promise", "checked", "violated"});
  for (const auto& [name, title] : kClauses) {
    for (const sweep::ClauseRow& row : summary.clauses) {
      if (row.name == name) {
        table.add({row.name + ": " + std::string(title),
                   std::to_string(row.checked), std::to_string(row.violated)});
      }
    }
  }
  return table;
}

std::string verdict_of(const sweep::Summary& summary, std::uint64_t forked) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, "%.1f s (%.1f a second), ",
                summary.seconds, summary.cases_per_second());
  std::string text = counted(summary.tally.ran, "case") + " in " + numbers;
  text += std::to_string(forked) + " forked, " +
          std::to_string(summary.tally.ran - forked) + " run again: ";
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

void ProgramReport::progress(std::uint64_t done, std::uint64_t bad,
                             const std::string& point) {
  if (line_.is_due()) {
    line_.show(std::to_string(done) + " of " +
               counted(plan_.cases.size(), "case") + ", " +
               std::to_string(bad) + " bad  " + point);
  }
}

void ProgramReport::add(const CaseResult& result, const FrameNames& names,
                        bool is_known) {
  const std::string point(name_of(result.failing.point));
  layers_[layer_of(point)].add(result.verdict, is_known);
  forked_ += result.was_forked ? 1 : 0;
  if (is_known || sweep::is_good(result.verdict.outcome)) {
    return;
  }
  const auto caught = catch_line(result.story, names);
  const bool went_on = result.verdict.outcome == Outcome::kSwallowed;
  const auto where = hit_line(result.story, names);
  const std::string site = went_on && caught ? text_of(*caught)
                           : where           ? text_of(*where)
                                             : point;
  const std::string title = std::string(to_string(result.verdict.outcome)) +
                            clauses_of(result.verdict);
  Finding& finding = findings_[title + '\n' + layer_of(point) + '\n' + site];
  if (finding.cases++ > 0) {
    return;
  }
  finding.rank = rank_of(result.verdict);
  finding.title = title;
  // The line that went on is told on a line of its own.
  const std::string note =
      result.verdict.note.substr(0, result.verdict.note.find("; it went on"));
  finding.what = result.failing.action + " at hit " +
                 std::to_string(result.failing.hit) + " of " + point +
                 (result.story.path.empty() ? "" : ", " + result.story.path) +
                 (note.empty() ? "" : ": " + note);
  if (went_on && caught) {
    finding.caught = text_of(*caught);
  }
  finding.stack = stack_lines(result.story, names);
  if (!finding.stack.empty() && finding.stack.front() == finding.caught) {
    finding.stack.erase(finding.stack.begin());
  }
  finding.repeat = options_.repeat(result.failing.id);
}

std::string ProgramReport::shown(const Finding& finding) const {
  std::string text = finding.title;
  if (finding.cases > 1) {
    text += " (" + counted(finding.cases, "case") + ", such as)";
  }
  text += ": " + finding.what + '\n';
  if (!finding.caught.empty()) {
    text += "  went on in " + finding.caught + '\n';
  }
  for (const std::string& line : finding.stack) {
    text += "  at " + line + '\n';
  }
  return text + "  again: " + finding.repeat + '\n';
}

void ProgramReport::print(const sweep::Summary& summary, bool json) {
  line_.clear();
  std::vector<const Finding*> worst;
  for (const auto& [key, finding] : findings_) {
    worst.push_back(&finding);
  }
  std::ranges::stable_sort(worst, [](const Finding* a, const Finding* b) {
    return a->rank != b->rank ? a->rank < b->rank : a->cases > b->cases;
  });
  const std::size_t total = worst.size();
  worst.resize(std::min(total, kWorst));
  if (cli::github::is_here()) {
    for (const Finding* finding : worst) {
      cli::github::annotate(shown(*finding));
    }
    cli::github::add_to_summary(
        "### Mishap sweep\n\n" + outcomes(layers_, summary).markdown() + '\n' +
        clauses(summary).markdown() + '\n' + verdict_of(summary, forked_));
  }
  if (json) {
    std::fputs(sweep::summary_json(summary, options_.sweep).c_str(), stdout);
    return;
  }
  std::printf("%s\n%s\n", outcomes(layers_, summary).text().c_str(),
              clauses(summary).text().c_str());
  for (const Finding* finding : worst) {
    std::printf("%s\n", shown(*finding).c_str());
  }
  if (total > worst.size()) {
    std::printf("... and %s more; cases.jsonl has them all\n\n",
                counted(total - worst.size(), "finding").c_str());
  }
  for (const std::string& remark : remarks_) {
    std::printf("note: %s\n", remark.c_str());
  }
  std::printf(
      "%s\nfiles: %s/{summary.json,cases.jsonl,records.jsonl,"
      "runs.jsonl}\n",
      verdict_of(summary, forked_).c_str(), options_.sweep.out.c_str());
}

}  // namespace mishap::program
