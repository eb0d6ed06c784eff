#include <mishap/trainer/harness/capture/process_facts.h>

namespace mishap {

const collector::RunFacts& process_facts() {
  // Never destroyed: a run may fail after main.
  static const collector::RunFacts* const facts =
      new collector::RunFacts(collector::RunFacts::gather());
  return *facts;
}

}  // namespace mishap
