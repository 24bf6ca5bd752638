#include "train/rank_store.h"

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include "flopmark/error.h"
#include "train/error_text.h"
#include "train/own_address.h"
#include "train/rank_store_state.h"
#include "train/time_limit.h"

namespace flopmark {
namespace {

using Store = c10::intrusive_ptr<c10d::Store>;

/// A thread that hangs within LibTorch's own limit gets a little longer before it is left behind.
constexpr double kGrace_s = 2;
/// The server of an earlier launch may still be closing its port.
constexpr auto kPortPatience = std::chrono::seconds(3);

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3));
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool listens(const RankPlace& place) {
  return place.rank == 0 && !place.agent_store;
}

std::string where(const RankPlace& place) {
  return fmt::format("{}:{}", place.master_address, place.master_port);
}

Store open_tcp(const RankPlace& place, double timeout_s) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.master_port);
  options.isServer = listens(place);
  options.waitWorkers = false;
  options.timeout = milliseconds_of(timeout_s);
  return c10::make_intrusive<c10d::TCPStore>(place.master_address, options);
}

Store open_store(const RankPlace& place, double timeout_s) {
  Store store;
  if (place.meeting_file.empty()) {
    store = open_tcp(place, timeout_s);
  } else {
    store = c10::make_intrusive<c10d::FileStore>(place.meeting_file, static_cast<int>(place.ranks));
    store->setTimeout(milliseconds_of(timeout_s));
  }
  return c10::make_intrusive<c10d::PrefixStore>(place.meeting, store);
}

bool port_in_use(const std::string& text) {
  return contains(text, "EADDRINUSE") || contains(text, "ddress already in use");
}

Error refusal(const RankPlace& place, double timeout_s, const std::string& text) {
  if (!place.meeting_file.empty()) {
    return usage_error(fmt::format("rank {}: the ranks cannot meet in the file {}: {}", place.rank,
                                   place.meeting_file, text));
  }
  if (port_in_use(text)) {
    return usage_error(
        fmt::format("rank 0: port {} of this host is in use by another program, so that the other ranks "
                    "cannot come to it; set MASTER_PORT to a free one",
                    place.master_port));
  }
  if (!is_known_host(place.master_address)) {
    return usage_error(fmt::format(
        "rank {}: MASTER_ADDR \"{}\" is no host that this one knows; set it to the name or address "
        "of rank 0's host",
        place.rank, place.master_address));
  }
  return usage_error(fmt::format(
      "rank {}: {} does not answer at {} within {:.3g} s (three quarters of parallel.timeout_s): {}; is it "
      "running, are MASTER_ADDR and MASTER_PORT its own, and does a firewall stand between? ({})",
      place.rank, place.agent_store ? "torchrun's agent" : "rank 0", where(place), timeout_s,
      listens(place) ? "this rank cannot reach itself under that address" : "nobody there", text));
}

Error silent(const RankPlace& place, double timeout_s) {
  if (place.meeting_file.empty() && !accepts_connections(place.master_address, place.master_port, 1)) {
    return refusal(place, timeout_s, "no connection");
  }
  return usage_error(fmt::format(
      "rank {}: something listens at {}, but it is not the meeting of this job: it said nothing for "
      "{:.3g} s (three quarters of parallel.timeout_s); set MASTER_PORT to a free port, the same for all "
      "ranks",
      place.rank, place.meeting_file.empty() ? where(place) : place.meeting_file, timeout_s));
}

}  // namespace

RankStore::RankStore(const RankPlace& place, double timeout_s)
    : state_(std::make_shared<State>()), timeout_s_(timeout_s) {
  const auto until = std::chrono::steady_clock::now() + kPortPatience;
  for (;;) {
    try {
      if (ends_within(timeout_s + kGrace_s,
                      [state = state_, place, timeout_s] { state->store = open_store(place, timeout_s); })) {
        return;
      }
    } catch (const std::exception& error) {
      const std::string text = first_line_of(error);
      if (!listens(place) || !port_in_use(error.what()) || std::chrono::steady_clock::now() > until) {
        throw refusal(place, timeout_s, port_in_use(error.what()) ? error.what() : text);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      continue;
    }
    throw silent(place, timeout_s);
  }
}

RankStore::~RankStore() = default;

/// Calls the store. @returns whether it answered.
template <typename Call>
bool RankStore::answers(double patience_s, Call call) {
  if (dead_) throw PeerLost("the meeting of the ranks did not answer before");
  try {
    return ends_within(patience_s, std::move(call));
  } catch (const std::exception& error) {
    throw PeerLost("the meeting of the ranks has ended: " + first_line_of(error));
  }
}

/// One that hangs holds a lock that the next calls would want.
template <typename Call>
void RankStore::in_time(std::optional<double> limit_s, Call call) {
  const double patience_s = limit_s ? std::min(*limit_s, timeout_s_) : timeout_s_ + kGrace_s;
  if (answers(patience_s, std::move(call))) return;
  dead_ = true;
  throw PeerLost(fmt::format("the meeting of the ranks does not answer within {:g} s", patience_s));
}

void RankStore::put(const std::string& key, const std::string& text, std::optional<double> limit_s) {
  in_time(limit_s, [state = state_, key, text] { state->store->set(key, text); });
}

bool RankStore::has(const std::vector<std::string>& keys, std::optional<double> limit_s) {
  const auto there = std::make_shared<bool>(false);
  in_time(limit_s, [state = state_, keys, there] { *there = state->store->check(keys); });
  return *there;
}

std::optional<bool> RankStore::look(const std::vector<std::string>& keys, double limit_s) {
  const auto there = std::make_shared<bool>(false);
  const bool answered =
      answers(limit_s, [state = state_, keys, there] { *there = state->store->check(keys); });
  return answered ? std::optional(*there) : std::nullopt;
}

std::string RankStore::get(const std::string& key, std::optional<double> limit_s) {
  const auto text = std::make_shared<std::string>();
  in_time(limit_s, [state = state_, key, text] { *text = state->store->get_to_str(key); });
  return *text;
}

std::string RankStore::claim(const std::string& key, const std::string& text) {
  const auto present = std::make_shared<std::string>();
  in_time(std::nullopt,
          [state = state_, key, text, present] { *present = state->store->compareSet(key, "", text); });
  return *present;
}

}  // namespace flopmark
