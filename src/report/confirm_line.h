#pragma once

#include <string>

#include "flopmark/record.h"

namespace flopmark {

/// The command that settles a verdict on two records, as to be typed: "flopmark ab configs/quickstart.json
/// --a.ref 0230d94c2b --b.ref 68e5aad4f1 --build CMD", with the config and --set of b's own command line.
/// Words in capitals are for the reader to fill in: a config that b does not tell, how commits are built, and
/// workers where a commit does not tell the two apart. b with uncommitted changes is the checked-out tree.
std::string confirm_line(const RunRecord& a, const RunRecord& b);

}  // namespace flopmark
