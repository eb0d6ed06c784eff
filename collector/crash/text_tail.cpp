#include <mishap/collector/crash/text_tail.h>

namespace mishap::collector {

void TextTail::add(std::string_view piece) {
  if (piece.size() > kBytes) {
    piece.remove_prefix(piece.size() - kBytes);
    is_cut_ = true;
  }
  kept_.append(piece);
  // Not at each piece: a program may write byte by byte.
  if (kept_.size() > 2 * kBytes) {
    kept_.erase(0, kept_.size() - kBytes);
    is_cut_ = true;
  }
}

std::string TextTail::text() const {
  std::string_view tail = kept_;
  bool is_cut = is_cut_;
  if (tail.size() > kBytes) {
    tail.remove_prefix(tail.size() - kBytes);
    is_cut = true;
  }
  if (is_cut) {
    const std::size_t end = tail.find('\n');
    if (end != std::string_view::npos && end + 1 < tail.size()) {
      tail.remove_prefix(end + 1);
    }
  }
  std::size_t begin = tail.size();
  for (std::size_t lines = 0; begin > 0; --begin) {
    if (tail[begin - 1] == '\n' && begin != tail.size() && ++lines == kLines) {
      break;
    }
  }
  return std::string(tail.substr(begin));
}

}  // namespace mishap::collector
