#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

namespace mishap {

/// Something that the user gave is wrong: an option, an argument, a file. The
/// message is one sentence with what, where and what to do. Exit status 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// SIGINT or SIGTERM was honoured at a safe point. Exit status 128 + signal.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal, const std::string& message)
      : std::runtime_error(message), signal_(signal) {}
  int signal() const noexcept { return signal_; }

 private:
  int signal_;
};

/// A promise of the cleanup contract was broken. Exit status 3.
class ContractViolated : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The loss, or a value that the user asked to watch, is NaN or infinite.
class NonFinite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A call of the file system failed; code() is its errno.
class FileError : public std::system_error {
 public:
  /// "write of PATH failed: No space left on device".
  FileError(const std::string& call, const std::string& path, int error)
      : std::system_error(error, std::generic_category(),
                          call + " of " + path + " failed"),
        call_(call),
        path_(path) {}
  /// "open", "read", "write", "fsync", "close", "link", "rename" or "unlink".
  const std::string& call() const noexcept { return call_; }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string call_;
  std::string path_;
};

/// An entry point that was asked to run batches ran none.
class NothingRan : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mishap
