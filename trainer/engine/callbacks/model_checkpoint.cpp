#include <mishap/trainer/engine/callbacks/model_checkpoint.h>
#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/guard/replace_file.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <limits>
#include <system_error>
#include <utility>

namespace mishap {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

std::string short_text(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.4g", value);
  return buffer.data();
}

// A metric's name may have a slash, a file's may not.
std::string as_file_name(std::string text) {
  for (char& c : text) {
    c = c == '/' ? '_' : c;
  }
  return text;
}

FileStore& store_of(Session& session) {
  const auto& store = session.options().store;
  return store ? *store : FileStore::system();
}

}  // namespace

ModelCheckpoint::ModelCheckpoint(ModelCheckpointOptions options)
    : options_(std::move(options)),
      book_(options_.save_top_k, options_.better) {}

std::filesystem::path ModelCheckpoint::best_path() const {
  return book_.best().empty() ? "" : book_.best().front().path;
}

double ModelCheckpoint::best_score() const {
  return book_.best().empty() ? kNoScore : book_.best().front().score;
}

std::filesystem::path ModelCheckpoint::last_path() const {
  return book_.last() ? book_.last()->path : "";
}

bool ModelCheckpoint::is_active(Session& session) const {
  return session.entry_point() == "fit" && session.options().fast_dev_run == 0;
}

std::int64_t ModelCheckpoint::epochs_apart() const {
  return options_.every_n_epochs.value_or(options_.every_n_train_steps > 0 ? 0
                                                                           : 1);
}

void ModelCheckpoint::check() const {
  const auto refuse = [](const std::string& what) {
    throw InputError("ModelCheckpointOptions." + what);
  };
  if (options_.save_top_k < -1) {
    refuse("save_top_k is " + std::to_string(options_.save_top_k) +
           "; give -1 for all, 0 for none, or how many");
  }
  if (options_.every_n_train_steps < 0 || epochs_apart() < 0) {
    refuse("every_n_train_steps and every_n_epochs are counts; give 0 or more");
  }
  if (options_.name.empty() || options_.name.find('/') != std::string::npos) {
    refuse("name is '" + options_.name +
           "'; give the name of a file, without its folder");
  }
}

void ModelCheckpoint::setup(Session& session) {
  if (!is_active(session)) {
    return;
  }
  check();
  folder_ = options_.folder.empty() ? session.options().root_dir / "checkpoints"
                                    : options_.folder;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw InputError("ModelCheckpoint cannot make the folder " +
                     folder_.native() + " (" + error.message() +
                     "); give it a folder that can be written");
  }
  remove_stale_files(folder_.native(), store_of(session));
  book_ = CheckpointBook(options_.save_top_k, options_.better);
  dropped_.clear();
  crash_.clear();
  saved_step_ = 0;
}

void ModelCheckpoint::on_fit_start(Session& session) {
  if (is_active(session) && options_.save_on_exception) {
    session.keep_resume_points();
  }
}

void ModelCheckpoint::on_train_batch_end(Session& session, const torch::Tensor&,
                                         const Batch&, std::int64_t) {
  const std::int64_t apart = options_.every_n_train_steps;
  if (apart > 0 && is_active(session) &&
      session.place().step / apart > saved_step_ / apart) {
    save(session);
  }
}

void ModelCheckpoint::on_validation_end(Session& session) {
  if (options_.after_validation && is_active(session) &&
      session.place().stage != Stage::kSanityCheck) {
    save(session);
  }
}

void ModelCheckpoint::on_train_epoch_end(Session& session) {
  const std::int64_t apart = epochs_apart();
  if (!options_.after_validation && apart > 0 && is_active(session) &&
      (session.place().epoch + 1) % apart == 0) {
    save(session);
  }
}

std::optional<double> ModelCheckpoint::score_of(Session& session) const {
  if (options_.monitor.empty()) {
    return kNoScore;
  }
  const Metrics& metrics = session.metrics();
  const auto found = metrics.find(options_.monitor);
  if (found != metrics.end()) {
    return found->second;
  }
  const bool is_validated_later =
      session.place().hook == Hook::kOnTrainBatchEnd ||
      (session.place().epoch + 1) % session.options().check_val_every_n_epoch !=
          0;
  if (is_validated_later) {
    return std::nullopt;
  }
  throw InputError("ModelCheckpointOptions.monitor is '" + options_.monitor +
                   "', which nothing logs; logged are: " + names_of(metrics));
}

// Each file changes the book when it is in place; all of them hold the book as
// it will be then.
void ModelCheckpoint::save(Session& session) {
  const std::int64_t step = session.place().step;
  CheckpointBook book = book_;
  std::vector<std::filesystem::path> paths;
  const std::optional<double> score = score_of(session);
  const bool is_best = score && book.wants(*score);
  if (is_best) {
    paths.push_back(path_of(session));
    dropped_ = book.enter({paths.front().native(), *score, step});
  }
  CheckpointBook with_last = book;
  if (options_.save_last) {
    paths.push_back(folder_ / "last.ckpt");
    with_last.set_last({paths.back().native(), kNoScore, step});
  }
  if (paths.empty()) {
    return;
  }
  struct Scope {
    const CheckpointBook*& place;
    ~Scope() { place = nullptr; }
  } const scope{next_book_ = &with_last};
  bool best_is_there = false;
  try {
    session.save_checkpoint(paths, [&](std::size_t i) {
      best_is_there = is_best;
      book_ = is_best && i == 0 ? book : with_last;
    });
  } catch (...) {
    // What the book has let go is removed though a later file fails.
    if (best_is_there) {
      try {
        remove_dropped(session);
      } catch (...) {
        // The error of the save is the one that counts, and it comes out.
      }
    } else {
      dropped_.clear();
    }
    throw;
  }
  remove_dropped(session);
  saved_step_ = step;
}

void ModelCheckpoint::remove_dropped(Session& session) {
  for (const std::string& path : std::exchange(dropped_, {})) {
    remove(session, path);
  }
}

void ModelCheckpoint::remove(Session& session, const std::string& path) const {
  if (store_of(session).unlink(path.c_str()) != 0 && errno != ENOENT) {
    TORCH_WARN("ModelCheckpoint could not remove ", path, ": ",
               std::generic_category().message(errno));
  }
}

std::filesystem::path ModelCheckpoint::path_of(Session& session) const {
  std::string name = options_.name;
  const auto fill = [&name](const std::string& word, const std::string& value) {
    const std::string mark = '{' + word + '}';
    for (std::size_t at = name.find(mark); at != std::string::npos;
         at = name.find(mark, at + value.size())) {
      name.replace(at, mark.size(), value);
    }
  };
  fill("epoch", std::to_string(session.place().epoch));
  fill("step", std::to_string(session.place().step));
  for (const auto& [metric, value] : session.metrics()) {
    fill(metric, short_text(value));
  }
  return folder_ / (as_file_name(name) + ".ckpt");
}

void ModelCheckpoint::on_exception(const ErrorEvent&) {
  Session* const session = Session::current();
  if (!options_.save_on_exception || session == nullptr ||
      !is_active(*session) || !session->can_save_checkpoint()) {
    return;
  }
  const std::int64_t step = session->step_to_resume();
  // Before the first update there is nothing that a restart would not give.
  if (step <= 0) {
    return;
  }
  const std::filesystem::path path =
      folder_ / ("crash-step=" + std::to_string(step) + ".ckpt");
  session->save_checkpoint(path, [&] { crash_ = path; });
}

void ModelCheckpoint::on_save_checkpoint(Session&, State& state) {
  state = (next_book_ != nullptr ? *next_book_ : book_).state();
  state.set("dropped", dropped_.size());
  for (std::size_t i = 0; i < dropped_.size(); ++i) {
    state.set("dropped/" + std::to_string(i), dropped_[i]);
  }
  state.set("folder", folder_.native());
  state.set("monitor", options_.monitor);
}

void ModelCheckpoint::on_load_checkpoint(Session& session, const State& state) {
  // Another folder's files, and other scores, are not ours to compare or
  // remove.
  if (state.text("folder") == folder_.native() &&
      state.text("monitor") == options_.monitor) {
    book_.load_state(state);
    // A process that was killed behind the save had no time to remove them.
    for (std::int64_t i = 0; i < state.integer("dropped"); ++i) {
      dropped_.push_back(state.text("dropped/" + std::to_string(i)));
    }
    remove_dropped(session);
  }
  saved_step_ = session.place().step;
}

}  // namespace mishap
