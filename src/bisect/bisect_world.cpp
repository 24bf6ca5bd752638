#include "bisect/bisect_world.h"

namespace flopmark {

const char* to_text(Comparison comparison) {
  switch (comparison) {
    case Comparison::ends:
      return "ends";
    case Comparison::ends_again:
      return "ends_again";
    case Comparison::commit:
      return "commit";
    case Comparison::confirmation:
      return "confirmation";
  }
  return "commit";
}

}  // namespace flopmark
