#include "plugin/plugin_call.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "flopmark/error.h"

namespace flopmark {

namespace {

std::string thrown_text(const std::string& where, const std::string& text) {
  return text.empty() ? where + " threw an exception without text" : fmt::format("{} threw: {}", where, text);
}

}  // namespace

void rethrow_from_plugin(const PluginPlace& place, const std::string& call) {
  const std::string where = fmt::format("{}: {}", place.text(), call);
  try {
    throw;
  } catch (const Error& error) {
    const std::string text = fmt::format("{}: {}", where, error.what());
    throw error.code() == ExitCode::usage ? usage_error(text) : judge_error(text);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    throw std::runtime_error(thrown_text(where, error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw std::runtime_error(thrown_text(where, error.what()));
  } catch (...) {
    throw judge_error(fmt::format("{} threw something that is not a std::exception", where));
  }
}

PluginCall::PluginCall(PluginPlace place, std::string call)
    : place_(std::move(place)),
      call_(std::move(call)),
      texts_{fmt::format("{}: crashed in {}\n", place_.text(), call_),
             fmt::format("{}: {} called exit(), which ends the process; throw an exception instead",
                         place_.text(), call_)} {}

void refuse_plugin(const PluginPlace& place, const std::string& why) {
  throw judge_error(fmt::format("{}: {}", place.text(), why));
}

}  // namespace flopmark
