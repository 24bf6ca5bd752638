#include "report/confirm_line.h"

#include "report/shell_quoted.h"

namespace flopmark {

std::string confirm_line(const std::string& config, const std::vector<std::string>& sets,
                         const RunRecord& reference) {
  constexpr size_t kShortHash = 12;
  std::string line = "flopmark ab " + shell_quoted(config);
  for (const std::string& set : sets) line += " --set " + shell_quoted(set);
  if (!reference.subject.commit) return line + " --a.worker OLD_WORKER";
  return line + " --a.ref " + shell_quoted(reference.subject.commit->substr(0, kShortHash)) +
         " --build 'BUILD COMMAND'";
}

}  // namespace flopmark
