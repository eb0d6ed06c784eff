#include <mishap/collector/record/line.h>
#include <mishap/collector/utf8.h>

#include <charconv>

namespace mishap::collector {

void Line::Path::add(std::string_view part) noexcept {
  const std::size_t fits = std::min(part.size(), text.size() - size);
  std::copy_n(part.data(), fits, text.data() + size);
  size += fits;
}

Line::Path Line::path_to(std::string_view key) const noexcept {
  Path path;
  const auto add_index = [&path](std::int64_t index) {
    std::array<char, 20> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), index).ptr;
    path.add("/");
    path.add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  };
  for (std::size_t i = 0; i < depth_; ++i) {
    path.add("/");
    path.add(steps_[i].key);
    if (steps_[i].index >= 0) add_index(steps_[i].index);
  }
  if (!key.empty()) {
    path.add("/");
    path.add(key);
  }
  return path;
}

void Line::enter(std::string_view key) noexcept { steps_[depth_++] = {key}; }

void Line::lost(std::string_view key, std::size_t kept,
                std::size_t total) noexcept {
  if (losses_size_ == losses_.size()) {
    ++losses_unlisted_;
    return;
  }
  losses_[losses_size_++] = {path_to(key), kept, total};
}

void Line::boolean(std::string_view key, std::optional<bool> value) noexcept {
  json_.key(key);
  value ? json_.boolean(*value) : json_.null();
}

void Line::integer(std::string_view key, std::int64_t value) noexcept {
  json_.key(key);
  json_.integer(value);
}

void Line::number(std::string_view key, std::string_view word_key,
                  std::optional<double> value) noexcept {
  json_.key(key);
  value ? json_.number(*value) : json_.null();
  name(word_key, value ? non_finite_word(*value) : std::string_view{});
}

void Line::decimal(std::string_view key, std::int64_t value) noexcept {
  json_.key(key);
  json_.decimal(value);
}

void Line::decimal(std::string_view key,
                   std::optional<std::uint64_t> value) noexcept {
  json_.key(key);
  value ? json_.decimal(*value) : json_.null();
}

void Line::hex(std::string_view key,
               std::optional<std::uint64_t> value) noexcept {
  json_.key(key);
  value ? json_.hex(*value) : json_.null();
}

std::optional<bool> Line::put_text(std::string_view value,
                                   TextKind kind) noexcept {
  bool bytes_replaced = false;
  std::size_t done = 0;
  json_.begin_text();
  while (const auto secret = next_secret(value, done, kind)) {
    bytes_replaced |= json_.add_text(value.substr(done, secret->begin - done));
    json_.add_text(secret->stand_in);
    done = secret->end;
  }
  bytes_replaced |= json_.add_text(value.substr(done));
  json_.end_text();
  return done > 0 ? std::nullopt : std::optional(bytes_replaced);
}

void Line::write_text(std::string_view key, std::string_view value,
                      TextKind kind) noexcept {
  const std::optional<bool> replaced = put_text(value, kind);
  // The raw bytes would show what was just taken out.
  if (!replaced.value_or(false)) return;
  if (replaced_size_ == replaced_.size()) {
    lost("replaced_bytes", 0, value.size());
    return;
  }
  replaced_[replaced_size_++] = {path_to(key), value};
}

void Line::name(std::string_view key, std::string_view value) noexcept {
  text_of_kind(key, value.empty() ? std::string_view{} : value, name_bytes_,
               TextKind::kPath);
}

void Line::text(std::string_view key, std::string_view value) noexcept {
  text(key, value, text_bytes_);
}

void Line::text(std::string_view key, std::string_view value,
                std::size_t limit) noexcept {
  text_of_kind(key, value, limit, TextKind::kPlain);
}

void Line::text_of_kind(std::string_view key, std::string_view value,
                        std::size_t limit, TextKind kind) noexcept {
  json_.key(key);
  if (value.data() == nullptr) return json_.null();
  const std::string_view kept = clip_utf8(value, limit);
  if (kept.size() < value.size()) lost(key, kept.size(), value.size());
  write_text(key, kept, kind);
}

bool Line::raw_text(std::string_view key, std::string_view bytes_key,
                    std::string_view value, std::size_t limit,
                    std::size_t total) noexcept {
  const std::string_view kept = clip_utf8(value, limit);
  json_.key(key);
  bool replaced = false;
  if (value.data() == nullptr) {
    json_.null();
  } else {
    replaced = put_text(kept, TextKind::kPlain).value_or(false);
  }
  json_.key(bytes_key);
  if (replaced) {
    const std::string_view raw = kept.substr(0, kMaxRawBytes);
    json_.hex_bytes(raw);
    if (raw.size() < total) lost(bytes_key, raw.size(), total);
  } else {
    json_.null();
  }
  if (kept.size() < total) lost(key, kept.size(), total);
  return kept.size() < total;
}

void Line::command(std::string_view key, std::string_view value,
                   std::size_t limit) noexcept {
  if (value.size() <= limit) {
    text_of_kind(key, value.empty() ? std::string_view{} : value, limit,
                 TextKind::kCommand);
    return;
  }
  json_.key(key);
  json_.null();
  lost(key, 0, value.size());
}

void Line::begin_list(std::string_view key, std::size_t total,
                      std::size_t limit) noexcept {
  if (total > limit) lost(key, limit, total);
  json_.key(key);
  enter(key);
  json_.begin_array();
}

void Line::end_list() noexcept {
  json_.end_array();
  leave();
}

void Line::texts(std::string_view key, std::span<const std::string_view> items,
                 std::size_t limit, Keep keep) noexcept {
  begin_list(key, items.size(), limit);
  for (const std::string_view item : part(items, limit, keep)) {
    next_item();
    const std::string_view kept = clip_utf8(item, text_bytes_);
    if (kept.size() < item.size()) lost({}, kept.size(), item.size());
    write_text({}, kept, TextKind::kPlain);
  }
  end_list();
}

void Line::integers(std::string_view key, std::span<const std::int64_t> items,
                    std::size_t limit) noexcept {
  begin_list(key, items.size(), limit);
  for (const std::int64_t item : part(items, limit, Keep::kFirst)) {
    json_.integer(item);
  }
  end_list();
}

void Line::end() noexcept {
  json_.key("replaced_bytes");
  json_.begin_array();
  for (std::size_t i = 0; i < replaced_size_; ++i) {
    const std::string_view bytes = replaced_[i].bytes;
    const std::string_view kept = bytes.substr(0, kMaxRawBytes);
    if (kept.size() < bytes.size()) {
      lost("replaced_bytes", kept.size(), bytes.size());
    }
    json_.begin_object();
    json_.key("key");
    json_.text(replaced_[i].path.view());
    json_.key("bytes_hex");
    json_.hex_bytes(kept);
    json_.end_object();
  }
  json_.end_array();
  json_.key("truncated");
  json_.begin_array();
  const auto loss = [this](std::string_view path, std::size_t kept,
                           std::size_t total) {
    json_.begin_object();
    json_.key("key");
    json_.text(path);
    json_.key("kept");
    json_.integer(static_cast<std::int64_t>(kept));
    json_.key("total");
    json_.integer(static_cast<std::int64_t>(total));
    json_.end_object();
  };
  for (std::size_t i = 0; i < losses_size_; ++i) {
    loss(losses_[i].path.view(), losses_[i].kept, losses_[i].total);
  }
  if (losses_unlisted_ > 0) {
    loss("/truncated", losses_size_, losses_size_ + losses_unlisted_);
  }
  json_.end_array();
  json_.end_object();
  json_.newline();
}

}  // namespace mishap::collector
