#include <mishap/trainer/cli_torch/app.h>
#include <mishap/trainer/tasks/digits_task.h>

int main(int argc, char** argv) {
  mishap::app::register_task(mishap::tasks::digits_task());
  return mishap::app::main(argc, argv);
}
