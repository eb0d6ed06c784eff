#pragma once

#include <mishap/trainer/engine/callback.h>

#include <filesystem>
#include <thread>

namespace mishap::tasks {

/// A callback with a thread, a pair of sockets and a file of its own: what the
/// hooks send down the sockets the thread writes into the file. All of it is
/// gone when teardown() returns, however far setup() came.
class Courier : public Callback {
 public:
  /// The file is made in that folder.
  explicit Courier(std::filesystem::path folder);
  ~Courier() override;
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  void setup(Session& session) override;
  void teardown(Session& session) override;
  void on_train_batch_end(Session& session, const torch::Tensor& loss,
                          const Batch& batch, std::int64_t index) override;
  void on_validation_end(Session& session) override;

 private:
  void send(char letter) const;
  void deliver() const;
  void close() noexcept;

  std::filesystem::path folder_;
  std::filesystem::path path_;
  int file_ = -1;
  int sockets_[2] = {-1, -1};
  std::thread thread_;
};

}  // namespace mishap::tasks
