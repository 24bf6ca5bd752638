#include "train/rank_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "flopmark/counted.h"
#include "hardware/environment.h"
#include "train/own_address.h"
#include "train/rank_group_state.h"
#include "train/rank_links.h"

namespace flopmark {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr const char* kAnyFailed = "failed/any";

std::string key_of(const std::string& key, int64_t rank) {
  return fmt::format("{}/{}", key, rank);
}

std::vector<std::string> keys_of_all(const std::string& key, int64_t ranks) {
  std::vector<std::string> keys;
  for (int64_t rank = 0; rank < ranks; ++rank) keys.push_back(key_of(key, rank));
  return keys;
}

/// Bytes that are not UTF-8 must not end a failure's way to the others.
std::string dumped(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

RankGroup::RankGroup(const Options& options) : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->hosts.assign(static_cast<size_t>(options.place.ranks), Host{.name = "not known", .cpus = ""});
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
std::string RankGroup::name_of(int64_t rank) const {
  return fmt::format("rank {} (host {})", rank, host(rank).name);
}

/// Opens the store and learns every rank's host. A store that closes while they gather was an earlier
/// launch's, on the way out: another try finds the new one.
void RankGroup::meet() {
  const Options& options = state_->options;
  const auto until = State::Time::clock::now() + std::chrono::duration<double>(options.timeout_s);
  const nlohmann::json own = {{"name", own_host_name()},
                              {"cpus", host_environment().cpu_affinity.value_or("")}};
  for (;;) {
    state_->store = std::make_unique<RankStore>(options.place, options.timeout_s);
    try {
      const auto all = gather("host", own);
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

std::vector<nlohmann::json> RankGroup::gather(const std::string& key, const nlohmann::json& own) {
  RankStore& store = *state_->store;
  store.put(key_of(key, rank()), dumped(own));
  const auto keys = keys_of_all(key, ranks());
  const auto until = State::Time::clock::now() + std::chrono::duration<double>(timeout_s());
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
    const nlohmann::json entry = {{"kind", failure.kind},
                                  {"phase", failure.phase},
                                  {"step", failure.step.value_or(0)},
                                  {"text", failure.text},
                                  {"own", own}};
    state_->store->put(key_of("failed", rank()), dumped(entry));
    state_->store->put(kAnyFailed, "1");
  } catch (const std::exception&) {  // the others will miss this rank's word
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
        if (auto entry = state_->noted_by(each)) noted.emplace(each, std::move(*entry));
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

void RankGroup::State::refuse_missing(const std::vector<std::string>& keys) {
  std::vector<int64_t> missing;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!store->has({keys[i]})) missing.push_back(static_cast<int64_t>(i));
  }
  std::string names;
  for (const int64_t each : missing) {
    const std::string& host = hosts.at(static_cast<size_t>(each)).name;
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", each,
                         host == "not known" ? "" : " (host " + host + ")");
  }
  const RankPlace& place = options.place;
  const std::string meeting_place = place.meeting_file.empty()
                                        ? fmt::format("{}:{}", place.master_address, place.master_port)
                                        : std::string("the meeting of this host's ranks");
  throw PeerLost(
      fmt::format("rank {} of {} did not come within {:g} s (parallel.timeout_s) to {}, where rank {} waits: "
                  "was every rank "
                  "started, with the same number of ranks, MASTER_ADDR and MASTER_PORT?",
                  names, counted(place.ranks, "rank"), options.timeout_s, meeting_place, place.rank),
      missing.empty() ? std::optional<int64_t>() : missing.front());
}

std::optional<RankGroup::Noted> RankGroup::State::noted_by(int64_t rank) {
  const std::string key = key_of("failed", rank);
  if (!store->has({key})) return std::nullopt;
  const auto entry = nlohmann::json::parse(store->get(key));
  Noted noted;
  const auto step = entry.at("step").get<int64_t>();
  noted.failure = {.kind = entry.at("kind").get<std::string>(),
                   .phase = entry.at("phase").get<std::string>(),
                   .step = step > 0 ? std::optional(step) : std::nullopt,
                   .text = entry.at("text").get<std::string>(),
                   .rank = rank,
                   .host = hosts.at(static_cast<size_t>(rank)).name};
  noted.own = entry.at("own").get<bool>();
  return noted;
}

}  // namespace flopmark
