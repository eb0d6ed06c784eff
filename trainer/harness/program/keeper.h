#pragma once

#include <sys/types.h>

#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace mishap::program {

/// What can be started; each may run several times.
enum class Role : int {
  /// The program with the agent in it.
  kProgram,
  /// The program as its user runs it.
  kClean,
  /// The user's check, by a shell.
  kCheck,
};

struct KeeperSetup {
  std::vector<std::string> words;
  /// Set in all roles.
  std::vector<std::pair<std::string, std::string>> environment;
  /// Set in kProgram only.
  std::vector<std::pair<std::string, std::string>> agent_environment;
  /// Tells the program its own process id, in kProgram.
  std::string id_variable;
  /// Empty: there is none.
  std::string check;
  /// Holds the journal; removed at the end.
  std::string scratch;
};

/// The process that outlives the supervisor: programs are its children, it
/// becomes the parent of all that they leave behind, and when the supervisor is
/// gone it ends them, puts the files back by the journal, and removes the
/// scratch folder. When it is gone itself, the supervisor does the same.
///
/// To be made while this process has one thread.
class Keeper {
 public:
  /// Forks it. Throws std::system_error.
  explicit Keeper(KeeperSetup setup);
  /// Ends what still runs, and the keeper. The files are left as they are.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// In a child of this process: the keeper stays with the parent.
  void leave_to_parent() const;

  /// Starts it in a process group of its own: stdin and stdout are /dev/null,
  /// stderr goes to that file. Throws CannotStart and KeeperLost.
  pid_t start(Role role, const std::string& errors_path);
  /// The wait status once that process has ended; nothing when the time is up
  /// or a signal came. Throws KeeperLost.
  std::optional<int> wait(pid_t process, std::chrono::milliseconds time);
  /// Ends what is below the keeper but `spared` (0: none) and its descendants.
  void end_all(pid_t spared = 0);
  /// Processes that were left by those that ended, without `process`. Waits a
  /// moment for them to end by themselves.
  std::vector<pid_t> left_behind(pid_t process) const;

 private:
  int socket_ = -1;
  pid_t process_ = 0;
  std::map<pid_t, int> ended_;
};

/// A program can't be started; code() is the errno of exec.
class CannotStart : public std::system_error {
 public:
  using std::system_error::system_error;
};

/// The keeper was killed.
class KeeperLost : public std::exception {
 public:
  const char* what() const noexcept override {
    return "the process that keeps the sweep's files was killed; what it had "
           "started has been ended, and the files are as before";
  }
};

}  // namespace mishap::program
