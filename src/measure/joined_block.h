#pragma once

#include <vector>

#include "measure/samples.h"

namespace flopmark {

/// Makes `timed`, one rank's block of a job of several, that of the job. Samples, tokens and images are
/// summed over `ranks`. A step ends when the slowest rank has ended as many steps, counted from the block's
/// begin, at which all ranks were together; so the steps still add up to the whole. The rank's own phases
/// stay, scaled where they are more than the step; what they lack was spent waiting for other ranks:
/// communication. All ranks have `timed.steps` steps.
void join_ranks(BlockSamples& timed, const std::vector<RankSamples>& ranks);

}  // namespace flopmark
