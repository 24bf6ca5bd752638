#include "compare/verdict.h"

namespace flopmark {

const char* to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
      return "slower";
    case Verdict::faster:
      return "faster";
    case Verdict::same:
      return "same";
    case Verdict::unsure:
      return "unsure";
    case Verdict::not_comparable:
      return "not_comparable";
  }
  return "unsure";
}

ExitCode exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
      return ExitCode::slower;
    case Verdict::faster:
    case Verdict::same:
      return ExitCode::ok;
    case Verdict::unsure:
      return ExitCode::cannot_judge;
    case Verdict::not_comparable:
      return ExitCode::not_comparable;
  }
  return ExitCode::cannot_judge;
}

}  // namespace flopmark
