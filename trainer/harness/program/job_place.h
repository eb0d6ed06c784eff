#pragma once

#include <cstddef>
#include <string>

namespace mishap::program {

/// The folder of a job in the scratch folder of its sweep. As long as the job
/// or its keeper lives, one of its files is locked.
class JobPlace {
 public:
  /// Makes and locks it. Throws std::system_error.
  JobPlace(const std::string& scratch, std::size_t number);
  /// Closes this process's end of the lock.
  ~JobPlace();
  JobPlace(JobPlace&& other) noexcept;
  JobPlace(const JobPlace&) = delete;
  JobPlace& operator=(const JobPlace&) = delete;

  std::string view() const { return folder_ + "/view"; }
  std::string bench() const { return folder_ + "/bench"; }

 private:
  std::string folder_;
  int lock_ = -1;
};

/// Waits until no job of that scratch folder, nor its keeper, lives any more;
/// for at most some seconds each.
void wait_for_jobs(const std::string& scratch);

}  // namespace mishap::program
