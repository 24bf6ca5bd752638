#include "bisect/bisect_result.h"

namespace flopmark {

const char* to_text(BisectOutcome outcome) {
  switch (outcome) {
    case BisectOutcome::confirmed:
      return "confirmed";
    case BisectOutcome::range:
      return "range";
    case BisectOutcome::unconfirmed:
      return "unconfirmed";
    case BisectOutcome::not_measured:
      return "not_measured";
    case BisectOutcome::not_reproduced:
      return "not_reproduced";
    case BisectOutcome::not_comparable:
      return "not_comparable";
    case BisectOutcome::interrupted:
      return "interrupted";
  }
  return "interrupted";
}

ExitCode exit_code(const BisectionResult& result) {
  switch (result.outcome) {
    case BisectOutcome::confirmed:
      return ExitCode::ok;
    case BisectOutcome::range:
    case BisectOutcome::unconfirmed:
    case BisectOutcome::not_measured:
      return ExitCode::cannot_judge;
    case BisectOutcome::not_reproduced:
      return ExitCode::not_reproduced;
    case BisectOutcome::not_comparable:
      return ExitCode::not_comparable;
    case BisectOutcome::interrupted:
      return ExitCode::interrupted;
  }
  return ExitCode::interrupted;
}

}  // namespace flopmark
