#include "models/models.h"
#include "worker/worker_program.h"

int main(int argc, char** argv) {
  return flopmark::run_worker_program(argc, argv, [](const auto& shape, const auto& options, const auto&) {
    return flopmark::make_model(shape, options);
  });
}
