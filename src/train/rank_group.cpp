#include "train/rank_group.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "config/rank_names.h"
#include "flopmark/error.h"
#include "hardware/environment.h"
#include "train/own_address.h"
#include "train/rank_group_state.h"
#include "train/rank_links.h"

namespace flopmark {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr const char* kAnyFailed = "failed/any";
/// Where something has failed already, the store may be gone as well: so long may one call to it take.
constexpr double kWordLimit_s = 2;
/// Where nothing has, as far as is known: the store's lock may be held by a call that waits for another rank.
constexpr double kLookLimit_s = 10;

/// Of the time limit, for the first meeting: who waits alone has told so before a limit of its caller's that
/// is the same (60 s, say) strikes.
constexpr double kMeetingShare = 0.75;
constexpr double kLeastMeeting_s = 0.1;

std::chrono::steady_clock::time_point seconds_from_now(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                std::chrono::duration<double>(seconds));
}

double seconds_until(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(time - std::chrono::steady_clock::now()).count();
}

std::string key_of(const std::string& key, int64_t rank) {
  return fmt::format("{}/{}", key, rank);
}

std::vector<std::string> keys_of_all(const std::string& key, int64_t ranks) {
  std::vector<std::string> keys;
  for (int64_t rank = 0; rank < ranks; ++rank) keys.push_back(key_of(key, rank));
  return keys;
}

/// Another text in each process that lives, on whatever host, and for each group in it.
std::string this_process(const void* group) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{} {} {} {}", own_host_name(), ::getpid(), fmt::ptr(group), now.count());
}

/// Bytes that are not UTF-8 must not end a failure's way to the others.
std::string dumped(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

RankGroup::RankGroup(const Options& options) : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->self = this_process(state_.get());
  state_->hosts.resize(static_cast<size_t>(options.place.ranks));
  state_->hosts.at(static_cast<size_t>(options.place.rank)).name = own_host_name();
}

RankGroup::~RankGroup() = default;

int64_t RankGroup::rank() const {
  return state_->options.place.rank;
}
int64_t RankGroup::ranks() const {
  return state_->options.place.ranks;
}
double RankGroup::timeout_s() const {
  return state_->options.timeout_s;
}
const RankGroup::Host& RankGroup::host(int64_t rank) const {
  return state_->hosts.at(static_cast<size_t>(rank));
}
std::vector<std::string> RankGroup::host_names() const {
  return state_->host_names();
}
std::optional<std::string> RankGroup::host_name(int64_t rank) const {
  const std::string& name = host(rank).name;
  return name.empty() ? std::nullopt : std::optional(name);
}

/// Opens the store and learns every rank's host. A store that closes while they gather was an earlier
/// launch's, on the way out: another try finds the new one.
void RankGroup::meet() {
  const Options& options = state_->options;
  const auto until = seconds_from_now(kMeetingShare * options.timeout_s);
  const nlohmann::json own = {{"name", own_host_name()},
                              {"cpus", host_environment().cpu_affinity.value_or("")}};
  for (;;) {
    state_->store =
        std::make_unique<RankStore>(options.place, std::max(seconds_until(until), kLeastMeeting_s));
    try {
      state_->come_once();
      const auto all = gather_until(until, "host", own);
      for (size_t i = 0; i < all.size(); ++i) {
        state_->hosts[i] = {all[i].at("name").get<std::string>(), all[i].at("cpus").get<std::string>()};
      }
      return;
    } catch (const PeerLost& error) {
      if (state_->peer_failed || error.rank || State::Time::clock::now() > until) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }
}

void RankGroup::stay_away(const Failure& failure, double limit_s) noexcept {
  try {
    const RankPlace& place = state_->options.place;
    state_->store = std::make_unique<RankStore>(place, limit_s);
    state_->come_once();
    note_failure(failure, /*own=*/true);
    const bool holds_meeting = place.rank == 0 && place.meeting_file.empty() && !place.agent_store;
    if (holds_meeting) std::this_thread::sleep_for(std::chrono::duration<double>(limit_s));
  } catch (const std::exception&) {  // then they wait until their limit
  }
}

std::vector<nlohmann::json> RankGroup::gather(const std::string& key, const nlohmann::json& own) {
  return gather_until(seconds_from_now(timeout_s()), key, own);
}

std::vector<nlohmann::json> RankGroup::gather_until(std::chrono::steady_clock::time_point until,
                                                    const std::string& key, const nlohmann::json& own) {
  RankStore& store = *state_->store;
  store.put(key_of(key, rank()), dumped(own));
  const auto keys = keys_of_all(key, ranks());
  while (!store.has(keys)) {
    require_nobody_failed();
    if (State::Time::clock::now() > until) state_->refuse_missing(keys);
    std::this_thread::sleep_for(kPoll);
  }
  std::vector<nlohmann::json> values;
  for (const std::string& each : keys) values.push_back(nlohmann::json::parse(store.get(each)));
  return values;
}

void RankGroup::leave(const std::string& key, const nlohmann::json& own) {
  state_->store->put(key_of(key, rank()), dumped(own));
}

/// A rank that fails before it comes need not be waited for.
void RankGroup::require_nobody_failed() {
  if (!state_->store->has({kAnyFailed})) return;
  state_->peer_failed = true;
  throw PeerLost("another rank has failed");
}

void RankGroup::note_failure(const Failure& failure, bool own) noexcept {
  if (!state_->store) return;  // this rank never came so far
  try {
    const nlohmann::json entry = {
        {"kind", failure.kind}, {"phase", failure.phase},  {"step", failure.step.value_or(0)},
        {"text", failure.text}, {"host", own_host_name()}, {"own", own}};
    state_->store->put(key_of("failed", rank()), dumped(entry), kWordLimit_s);
    state_->store->put(kAnyFailed, "1", kWordLimit_s);
  } catch (const std::exception&) {  // the others will miss this rank's word
  }
}

bool RankGroup::is_given_up() noexcept {
  try {
    return state_->store->look({kAnyFailed}, kLookLimit_s).value_or(false);
  } catch (const std::exception&) {
    return true;
  }
}

std::map<int64_t, RankGroup::Noted> RankGroup::noted_failures(double limit_s, bool& reachable) noexcept {
  std::map<int64_t, Noted> noted;
  reachable = state_->store != nullptr;
  if (!reachable) return noted;
  const auto until = State::Time::clock::now() + std::chrono::duration<double>(limit_s);
  try {
    for (;;) {
      bool anyone_by_itself = false;
      for (int64_t each = 0; each < ranks(); ++each) {
        if (each == rank() || noted.count(each) > 0) continue;
        if (auto entry = state_->noted_by(each, kWordLimit_s)) noted.emplace(each, std::move(*entry));
      }
      for (const auto& [each, entry] : noted) anyone_by_itself |= entry.own;
      const bool all = static_cast<int64_t>(noted.size()) == ranks() - 1;
      if (anyone_by_itself || all || State::Time::clock::now() > until) break;
      std::this_thread::sleep_for(kPoll);
    }
    reachable = true;
  } catch (const std::exception&) {
    reachable = false;
  }
  return noted;
}

/// A store that another job keeps at this port must learn nothing of this one: the failure, too.
void RankGroup::State::come_once() {
  const RankPlace& place = options.place;
  if (store->claim(key_of("came", place.rank), self) == self) return;
  store.reset();
  throw usage_error(fmt::format(
      "rank {}: another process already is rank {} of the job that meets at {}; give this job a port of its "
      "own (MASTER_PORT), and each of its processes another rank",
      place.rank, place.rank, meeting_place()));
}

std::vector<std::string> RankGroup::State::host_names() const {
  std::vector<std::string> names;
  for (const Host& host : hosts) names.push_back(host.name);
  return names;
}

std::string RankGroup::State::meeting_place() const {
  const RankPlace& place = options.place;
  return place.meeting_file.empty() ? fmt::format("{}:{}", place.master_address, place.master_port)
                                    : std::string("the meeting of this host's ranks");
}

void RankGroup::State::refuse_missing(const std::vector<std::string>& keys) {
  std::vector<int64_t> missing;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!store->has({keys[i]})) missing.push_back(static_cast<int64_t>(i));
  }
  const RankPlace& place = options.place;
  throw PeerLost(
      fmt::format("{} of {} did not come in time (parallel.timeout_s is {:g}) to {}, where rank {} waits: "
                  "was every rank started, with the same number of ranks, MASTER_ADDR and MASTER_PORT?",
                  rank_list(missing, host_names()), place.ranks, options.timeout_s, meeting_place(),
                  place.rank),
      missing.empty() ? std::optional<int64_t>() : missing.front());
}

std::optional<RankGroup::Noted> RankGroup::State::noted_by(int64_t rank, double limit_s) {
  const std::string key = key_of("failed", rank);
  if (!store->has({key}, limit_s)) return std::nullopt;
  const auto entry = nlohmann::json::parse(store->get(key, limit_s));
  Noted noted;
  const auto step = entry.at("step").get<int64_t>();
  noted.failure = {.kind = entry.at("kind").get<std::string>(),
                   .phase = entry.at("phase").get<std::string>(),
                   .step = step > 0 ? std::optional(step) : std::nullopt,
                   .text = entry.at("text").get<std::string>(),
                   .rank = rank,
                   .host = entry.at("host").get<std::string>()};
  noted.own = entry.at("own").get<bool>();
  return noted;
}

}  // namespace flopmark
