#pragma once

#include <cstdint>
#include <string>

#include "plugin/plugin_crash.h"

namespace flopmark {

/// What of a plug-in is meant, for messages: "model.plugin /x/libmy.so".
struct PluginPlace {
  std::string key;   ///< model.plugin or data.plugin
  std::string path;  ///< of the library
  std::string text() const { return key + " " + path; }
};

/// In a catch block: throws anew what `call` of the plug-in, such as "loss() of my_model", threw. An Error
/// 200 stays one, out of memory stays what it is; all else becomes a std::exception that ends the run with
/// 125. Either way the text names the plug-in. Never returns.
[[noreturn]] void rethrow_from_plugin(const PluginPlace& place, const std::string& call);

/// A function of a plug-in, to be called. What it throws, crashes with or exits by names the plug-in and
/// the call.
class PluginCall {
 public:
  /// `call`: for messages: "loss() of my_model".
  PluginCall(PluginPlace place, std::string call);

  /// What `function`, which calls the plug-in, returns. @throws as rethrow_from_plugin().
  template <class Function>
  auto operator()(Function function) const {
    const CrashNote note(texts_);
    try {
      return function();
    } catch (...) {
      rethrow_from_plugin(place_, call_);
    }
  }

 private:
  PluginPlace place_;
  std::string call_;
  CallTexts texts_;
};

/// @throws Error 125 that names the plug-in.
[[noreturn]] void refuse_plugin(const PluginPlace& place, const std::string& why);

}  // namespace flopmark
