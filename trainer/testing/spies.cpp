#include <mishap/trainer/testing/spies.h>

namespace mishap {

SpyCallback::SpyCallback(Journal& journal, std::string name)
    : journal_(journal),
      name_(std::move(name)),
      component_(Component::named("callback." + name_)) {}

SpyLogger::SpyLogger(Journal& journal, std::string name)
    : journal_(journal),
      name_(std::move(name)),
      component_(Component::named("logger." + name_)) {}

SpyStrategy::SpyStrategy(Journal& journal)
    : journal_(journal), component_(Component::named("strategy")) {}

}  // namespace mishap
