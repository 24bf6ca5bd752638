#include "worker/lost_collectives.h"

#include <c10/util/Exception.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "launch/protocol.h"

namespace flopmark {
namespace {

// A terminate handler reaches its data through globals only.
std::function<void(const std::exception&)> report_to_front_end;
std::terminate_handler handler_before = nullptr;

bool is_of_collectives(const std::exception& error) {
  return dynamic_cast<const c10::DistBackendError*>(&error) != nullptr ||
         std::strstr(error.what(), "ProcessGroupNCCL") != nullptr;
}

void leave_if_lost() {
  const std::exception_ptr thrown = std::current_exception();
  if (!thrown || !report_to_front_end) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    if (!is_of_collectives(error)) return;
    report_to_front_end(error);
    std::fflush(nullptr);
    ::_exit(kWorkerSentFailure);
  } catch (...) {
  }
}

void on_terminate() {
  try {
    leave_if_lost();
  } catch (...) {  // what cannot be reported is a crash after all
  }
  if (handler_before != nullptr) handler_before();  // whoever calls this ends the process
}

}  // namespace

LostCollectives::LostCollectives(std::function<void(const std::exception&)> report) {
  report_to_front_end = std::move(report);
  handler_before = std::set_terminate(on_terminate);
}

LostCollectives::~LostCollectives() {
  std::set_terminate(handler_before);
  report_to_front_end = nullptr;
}

}  // namespace flopmark
