#include "launch/launcher_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "launch/build_command.h"
#include "launch/launcher_variables.h"
#include "launch/printable_text.h"
#include "launch/slurm_lists.h"

namespace flopmark {
namespace {

constexpr int64_t kMostPort = 65535;
/// Ports that follow from a job's number: below those that systems give out by themselves.
constexpr uint64_t kFirstJobPort = 10000, kJobPorts = 20000;
/// Steps of Slurm from here on are no parallel ones: the batch script, an interactive shell.
constexpr int64_t kFirstSpecialStep = 4294967280;

/// The variables of one launcher.
struct Family {
  const char *launcher, *rank, *ranks, *local_rank, *local_ranks;

  std::vector<std::string> names() const { return {rank, ranks, local_rank, local_ranks}; }
};

constexpr Family kTorchrun{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Family kOpenMpi{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                          "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Family kMpich{"mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};

/// What one launcher says; what it does not, or says wrongly, is absent.
struct Numbers {
  std::string launcher, rank_name, ranks_name;
  std::optional<int64_t> rank, ranks, local_rank, local_ranks;

  std::string text() const {
    return fmt::format("{}={} and {}={} ({})", rank_name, rank.value_or(0), ranks_name, ranks.value_or(0),
                       launcher);
  }
};

bool any_set(const VariableReader& reader, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return reader.has(name); });
}

void check_below(VariableReader& reader, const std::string& name, const std::optional<int64_t>& value,
                 const std::string& limit_name, const std::optional<int64_t>& limit) {
  if (!value || !limit || *value < *limit) return;
  reader.fault(fmt::format("{}={} is not below {}={}", name, *value, limit_name, *limit));
}

Numbers read_numbers(VariableReader& reader, const Family& family, bool needs_local_rank,
                     bool needs_local_ranks) {
  Numbers found{family.launcher, family.rank, family.ranks, {}, {}, {}, {}};
  found.rank = reader.needed_number(family.rank, 0, kMostRanks);
  found.ranks = reader.needed_number(family.ranks, 1, kMostRanks);
  if (needs_local_rank) found.local_rank = reader.needed_number(family.local_rank, 0, kMostRanks);
  if (needs_local_ranks) found.local_ranks = reader.needed_number(family.local_ranks, 1, kMostRanks);
  check_below(reader, family.rank, found.rank, family.ranks, found.ranks);
  check_below(reader, family.local_rank, found.local_rank, family.local_ranks, found.local_ranks);
  if (found.ranks && found.local_ranks && *found.local_ranks > *found.ranks) {
    reader.fault(fmt::format("{}={} is more than {}={}", family.local_ranks, *found.local_ranks, family.ranks,
                             *found.ranks));
  }
  return found;
}

bool is_loopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

/// Of torchrun, or set by hand. A job whose meeting place is this host itself lies on this host whole; in any
/// other LOCAL_WORLD_SIZE is as many as LOCAL_RANK tells of, and without that each host has one rank.
std::optional<Numbers> torchrun_numbers(VariableReader& reader, bool has_other) {
  std::vector<std::string> names = kTorchrun.names();
  if (!has_other) names.insert(names.end(), {"MASTER_ADDR", "MASTER_PORT"});
  if (!any_set(reader, names)) return std::nullopt;
  const bool has_size = reader.has(kTorchrun.local_ranks), has_rank = reader.has(kTorchrun.local_rank);
  Numbers found = read_numbers(reader, kTorchrun, has_rank || has_size, has_size);
  const bool is_one_host = is_loopback(reader.text("MASTER_ADDR").value_or(""));
  if (!has_rank && !has_size && !has_other) found.local_rank = is_one_host ? found.rank : 0;
  if (!has_size && !has_other) {
    found.local_ranks = is_one_host ? found.ranks : std::optional(found.local_rank.value_or(0) + 1);
    if (has_rank) check_below(reader, kTorchrun.local_rank, found.local_rank, kTorchrun.ranks, found.ranks);
  }
  if (found.ranks && found.local_ranks == found.ranks && found.rank && found.local_rank &&
      *found.rank < *found.ranks && found.rank != found.local_rank) {
    reader.fault(fmt::format("RANK={} and LOCAL_RANK={} contradict each other: all {} ranks are on one host",
                             *found.rank, *found.local_rank, *found.ranks));
  }
  return found;
}

std::optional<Numbers> mpi_numbers(VariableReader& reader) {
  if (any_set(reader, kOpenMpi.names())) return read_numbers(reader, kOpenMpi, true, true);
  // srun sets PMI_RANK, too, but not these.
  if (any_set(reader, {kMpich.local_rank, kMpich.local_ranks}))
    return read_numbers(reader, kMpich, true, true);
  return std::nullopt;
}

/// Whether srun started this process, as one of a step's tasks.
bool is_slurm_task(VariableReader& reader) {
  const std::string step = reader.has("SLURM_STEP_ID") ? "SLURM_STEP_ID" : "SLURM_STEPID";
  const auto number = reader.number(step, 0, std::numeric_limits<int64_t>::max());
  return number && *number < kFirstSpecialStep;
}

/// The variable that says of how many tasks.
std::string slurm_tasks(const VariableReader& reader) {
  return reader.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
}

bool is_slurm_job(const VariableReader& reader) {
  return reader.has("SLURM_JOB_ID") || reader.has("SLURM_JOBID");
}

/// Of a step of srun with several tasks: what runs alone is started by srun for other reasons.
std::optional<Numbers> slurm_numbers(VariableReader& reader) {
  const std::string tasks = slurm_tasks(reader);
  if (reader.text(tasks) == "1") return std::nullopt;
  Numbers found{"srun", "SLURM_PROCID", tasks, {}, {}, {}, {}};
  found.rank = reader.needed_number("SLURM_PROCID", 0, kMostRanks);
  found.ranks = reader.needed_number(tasks, 1, kMostRanks);
  found.local_rank = reader.needed_number("SLURM_LOCALID", 0, kMostRanks);
  check_below(reader, "SLURM_PROCID", found.rank, tasks, found.ranks);
  const auto nodes = reader.number("SLURM_STEP_NUM_NODES", 1, kMostRanks);
  if (nodes == 1) {
    found.local_ranks = found.ranks;
  } else {
    const auto node = reader.number("SLURM_NODEID", 0, kMostRanks);
    found.local_ranks =
        slurm_tasks_on(reader.text("SLURM_STEP_TASKS_PER_NODE").value_or(""), node.value_or(0));
    if (!found.local_ranks) reader.need("SLURM_STEP_TASKS_PER_NODE");
  }
  return found;
}

/// Of a process without a whole set of variables: those that only one of several processes has, and no run of
/// its own, ask for the rest. In an allocation of Slurm the batch script and its programs are task 0 too.
void need_the_rest(VariableReader& reader) {
  if (any_set(reader, {kMpich.rank, kMpich.ranks}) && reader.text(kMpich.ranks) != "1") {
    for (const std::string& name : kMpich.names()) reader.need(name);
  }
  const auto task = reader.text("SLURM_PROCID");
  const bool is_batch = is_slurm_job(reader) && task == "0";
  if (!task || is_batch || reader.text(slurm_tasks(reader)) == "1") return;
  for (const std::string& name :
       {std::string("SLURM_STEP_ID"), slurm_tasks(reader), std::string("SLURM_LOCALID")})
    reader.need(name);
}

/// The one that started this process itself: a launcher may start another, as srun does mpirun's helpers and
/// torchrun. What somebody set by hand must say the same as the launcher.
std::optional<Numbers> innermost(VariableReader& reader) {
  const auto mpi = mpi_numbers(reader);
  const bool is_task = !mpi && is_slurm_task(reader);
  const auto slurm = is_task ? slurm_numbers(reader) : std::nullopt;
  const auto& other = mpi ? mpi : slurm;
  auto torchrun = torchrun_numbers(reader, other.has_value());
  if (!torchrun && !other && !is_task) need_the_rest(reader);
  if (!torchrun || !other || reader.has("TORCHELASTIC_RUN_ID")) return torchrun ? torchrun : other;
  const bool is_known = torchrun->rank && torchrun->ranks && other->rank && other->ranks;
  if (is_known && (torchrun->rank != other->rank || torchrun->ranks != other->ranks)) {
    reader.fault(fmt::format("{} contradict {}", torchrun->text(), other->text()));
  }
  if (!torchrun->local_rank) torchrun->local_rank = other->local_rank;
  if (!torchrun->local_ranks) torchrun->local_ranks = other->local_ranks;
  return torchrun;
}

/// A number that all processes of a job have and other jobs of the host have not; empty if there is none.
std::string job_number(const VariableReader& reader) {
  if (const auto job = reader.text("OMPI_MCA_ess_base_jobid")) return *job;
  if (const auto job = reader.text("PMIX_NAMESPACE")) return *job;
  const auto job = reader.text("SLURM_JOB_ID");
  return job ? *job + "." + reader.text("SLURM_STEP_ID").value_or("") : "";
}

bool is_address(const std::string& text) {
  return text.size() < 256 && text.find_first_of(" \t\r\n/@,") == std::string::npos;
}

void read_master(VariableReader& reader, const Numbers& numbers, RankPlace& place) {
  const bool is_by_hand = numbers.launcher == kTorchrun.launcher;
  const bool is_one_host = numbers.ranks && numbers.local_ranks == numbers.ranks;
  place.master_address = reader.text("MASTER_ADDR").value_or("");
  if (!is_address(place.master_address)) {
    reader.fault(fmt::format("MASTER_ADDR={} is no host's name or address",
                             printable_text(place.master_address, kShownVariableBytes)));
  }
  if (place.master_address.empty() && !is_by_hand) {
    place.master_address = is_one_host ? "127.0.0.1"
                           : numbers.launcher == "srun"
                               ? first_slurm_host(reader.text("SLURM_STEP_NODELIST").value_or(""))
                               : "";
  }
  if (place.master_address.empty()) reader.need("MASTER_ADDR");
  const std::string job = is_by_hand ? "" : job_number(reader);
  if (!reader.has("MASTER_PORT") && !job.empty()) {
    place.master_port = static_cast<int64_t>(kFirstJobPort + text_hash(job) % kJobPorts);
  } else {
    place.master_port = reader.needed_number("MASTER_PORT", 1, kMostPort).value_or(0);
  }
}

/// Everything that a message may name as set.
std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const Family& family : {kTorchrun, kOpenMpi, kMpich}) {
    for (const std::string& name : family.names()) names.push_back(name);
  }
  for (const char* name : {"SLURM_STEP_ID", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS",
                           "SLURM_LOCALID", "SLURM_STEP_NODELIST", "MASTER_ADDR", "MASTER_PORT"}) {
    names.emplace_back(name);
  }
  return names;
}

}  // namespace

std::optional<RankPlace> launcher_place(const Variables& variables) {
  VariableReader reader(variables);
  const auto numbers = innermost(reader);
  if (!numbers) {
    reader.refuse_faults(known_names());
    return std::nullopt;
  }
  RankPlace place;
  const bool needs_master = numbers->launcher == kTorchrun.launcher || numbers->ranks.value_or(2) > 1;
  if (needs_master) read_master(reader, *numbers, place);
  reader.refuse_faults(known_names());
  place.rank = numbers->rank.value_or(0);
  place.ranks = numbers->ranks.value_or(1);
  place.local_rank = numbers->local_rank.value_or(0);
  place.local_ranks = numbers->local_ranks.value_or(1);
  place.agent_store =
      reader.text("TORCHELASTIC_USE_AGENT_STORE") == "True" && numbers->launcher == kTorchrun.launcher;
  return place;
}

std::optional<std::string> lone_process_note(const Variables& variables) {
  VariableReader reader(variables);
  const std::string name = slurm_tasks(reader);
  const auto tasks = reader.number(name, 2, kMostRanks);
  if (!tasks || !is_slurm_job(reader) || is_slurm_task(reader)) return std::nullopt;
  return fmt::format(
      "{}={}, but this process was not started by srun: it is one process, a job of its own, whose ranks "
      "parallel.ranks counts; srun starts a rank for each task",
      name, *tasks);
}

Variables own_variables() {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) variables.try_emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace flopmark
