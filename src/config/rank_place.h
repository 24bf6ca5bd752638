#pragma once

#include <cstdint>
#include <string>

namespace flopmark {

/// Where one worker stands in a job of several, and how the ranks of the job find each other. The default is
/// a job of one rank, which meets nobody.
struct RankPlace {
  int64_t rank = 0;            ///< 0 .. ranks - 1
  int64_t ranks = 1;           ///< in the whole job
  int64_t local_rank = 0;      ///< among the ranks of this host; the GPU that `device` auto or cuda means
  int64_t local_ranks = 1;     ///< on this host
  std::string meeting_file;    ///< a file that all ranks of one host share (c10d FileStore); empty: over TCP
  std::string master_address;  ///< host that rank 0 listens on; empty with `meeting_file`
  int64_t master_port = 0;     ///< 1 .. 65535 with `master_address`
  bool agent_store = false;    ///< torchrun's agent listens already: every rank is a client
  std::string meeting;  ///< prefix of the store's keys: differs per launch, so that one store serves several
};

}  // namespace flopmark
