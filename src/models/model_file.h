#pragma once

#include <exception>
#include <string>

namespace flopmark {

/// A model's file, and what messages call it.
struct ModelFile {
  std::string path;
  const char* key;    ///< of the config that names it: model.torchscript
  const char* kind;   ///< what it should be: TorchScript
  const char* maker;  ///< what writes such files: torch.jit.save

  /// @throws Error 125, always: the key, the path and `why`.
  [[noreturn]] void refuse(const std::string& why) const;
  /// The same for what a library threw while it read the file, and which is being handled; running out of
  /// memory is thrown on as it is.
  [[noreturn]] void refuse(const std::exception& error) const;
};

/// What the first bytes of a file tell before LibTorch sees it. @throws Error 125 if it is no zip archive.
void check_beginning(const ModelFile& file);

/// The first line of an error that says something, without LibTorch's stack trace, not too long.
std::string reason_line(const std::exception& error);

}  // namespace flopmark
