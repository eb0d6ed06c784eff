#include <mishap/trainer/cli_torch/app.h>
#include <mishap/trainer/tasks/digits_task.h>
#include <mishap/trainer/tasks/gauntlet_task.h>

int main(int argc, char** argv) {
  mishap::app::register_task(mishap::tasks::digits_task());
  mishap::app::register_task(mishap::tasks::gauntlet_task());
  return mishap::app::main(argc, argv);
}
