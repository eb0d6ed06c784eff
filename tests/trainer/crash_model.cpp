#include "crash_model.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace mishap::checkpoint_test {
namespace {

using Kind = Operation::Kind;
using Names = std::map<std::string, std::size_t>;

// Of a large file so many places where its data may end.
constexpr std::size_t kMostCuts = 48;
constexpr std::size_t kSector = 512;
constexpr std::size_t kPage = 4096;

struct Inode {
  std::string durable;
  std::string now;
  bool is_dirty = false;
  bool is_truncated = false;
};

// One that waits for its folder to be synced.
struct NameChange {
  Kind kind;
  std::string path;
  std::string to;
  std::size_t inode = 0;
};

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.native();
}

// In a state that lacks the name a change has nothing to do.
void perform(const NameChange& change, Names& names) {
  const auto found = names.find(change.path);
  switch (change.kind) {
    case Kind::kCreate:
      names[change.path] = change.inode;
      break;
    case Kind::kLink:
      if (found != names.end()) {
        names.emplace(change.to, found->second);
      }
      break;
    case Kind::kRename:
      if (found != names.end()) {
        const std::size_t inode = found->second;
        names.erase(found);
        names[change.to] = inode;
      }
      break;
    default:
      names.erase(change.path);
  }
}

std::set<std::size_t> cuts_of(std::size_t size) {
  std::set<std::size_t> cuts = {0, size};
  for (const std::size_t unit : {kSector, kPage}) {
    const std::size_t units = size / unit;
    const std::size_t apart = units / kMostCuts + 1;
    for (std::size_t i = 0; i <= units; i += apart) {
      cuts.insert(i * unit);
    }
  }
  return cuts;
}

std::set<std::string> contents_of(const Inode& inode) {
  if (!inode.is_dirty) {
    return {inode.durable};
  }
  const std::string& now = inode.now;
  std::set<std::string> contents = {inode.durable};
  if (inode.is_truncated) {
    contents.insert("");
  }
  for (const std::size_t cut : cuts_of(now.size())) {
    const std::string part = now.substr(0, cut);
    contents.insert(part);
    contents.insert(part + std::string(now.size() - cut, '\0'));
    // The part is written over what was there; the rest is not cut off.
    if (inode.durable.size() > cut) {
      contents.insert(part + inode.durable.substr(cut));
    }
    // One page did not get there although later ones did.
    std::string with_hole = now;
    const std::size_t end = std::min(now.size(), cut + kPage);
    std::fill(with_hole.begin() + static_cast<std::ptrdiff_t>(cut),
              with_hole.begin() + static_cast<std::ptrdiff_t>(end), '\0');
    contents.insert(std::move(with_hole));
  }
  return contents;
}

class Disk {
 public:
  explicit Disk(const Files& before) {
    for (const auto& [path, content] : before) {
      durable_[path] = live_[path] = inodes_.size();
      inodes_.push_back({content, content});
    }
  }

  void run(const Operation& operation) {
    switch (operation.kind) {
      case Kind::kCreate:
        inodes_.emplace_back();
        inodes_.back().is_dirty = true;
        change({Kind::kCreate, operation.path, "", inodes_.size() - 1});
        break;
      case Kind::kTruncate: {
        Inode& inode = inode_of(operation);
        inode.now.clear();
        inode.is_dirty = inode.is_truncated = true;
        break;
      }
      case Kind::kWrite:
        inode_of(operation).now += operation.data;
        inode_of(operation).is_dirty = true;
        break;
      case Kind::kSync: {
        Inode& inode = inode_of(operation);
        inode.durable = inode.now;
        inode.is_dirty = inode.is_truncated = false;
        break;
      }
      case Kind::kSyncFolder:
        sync(operation.path);
        break;
      default:
        change({operation.kind, operation.path, operation.to});
    }
  }

  std::set<Files> crashes() const {
    std::set<Files> states;
    for (std::size_t chosen = 0; chosen < std::size_t{1} << pending_.size();
         ++chosen) {
      Names names = durable_;
      for (std::size_t i = 0; i < pending_.size(); ++i) {
        if ((chosen >> i & 1) != 0) {
          perform(pending_[i], names);
        }
      }
      add_states(names, states);
    }
    return states;
  }

 private:
  Inode& inode_of(const Operation& operation) {
    return inodes_[live_.at(operation.path)];
  }
  void change(NameChange change) {
    perform(change, live_);
    pending_.push_back(std::move(change));
  }
  void sync(const std::string& folder) {
    std::vector<NameChange> others;
    for (const NameChange& change : pending_) {
      if (folder_of(change.path) == folder) {
        perform(change, durable_);
      } else {
        others.push_back(change);
      }
    }
    pending_ = std::move(others);
  }
  void add_states(const Names& names, std::set<Files>& states) const {
    std::set<std::size_t> used;
    for (const auto& [path, inode] : names) {
      used.insert(inode);
    }
    std::vector<std::map<std::size_t, std::string>> choices = {{}};
    for (const std::size_t inode : used) {
      std::vector<std::map<std::size_t, std::string>> longer;
      for (const std::string& content : contents_of(inodes_[inode])) {
        for (auto choice : choices) {
          choice[inode] = content;
          longer.push_back(std::move(choice));
        }
      }
      choices = std::move(longer);
    }
    for (const auto& choice : choices) {
      Files files;
      for (const auto& [path, inode] : names) {
        files[path] = choice.at(inode);
      }
      states.insert(std::move(files));
    }
  }

  std::vector<Inode> inodes_;
  /// As a process sees them.
  Names live_;
  Names durable_;
  std::vector<NameChange> pending_;
};

}  // namespace

std::set<Files> states_after_crash(const Files& before,
                                   const std::vector<Operation>& trace,
                                   std::size_t done) {
  Disk disk(before);
  for (std::size_t i = 0; i < done; ++i) {
    disk.run(trace[i]);
  }
  return disk.crashes();
}

}  // namespace mishap::checkpoint_test
