#include <fmt/format.h>

#include "measure/ruler.h"
#include "results/run_warnings.h"

namespace flopmark {
namespace {

bool is_release(const std::string& build_type) {
  return build_type == "Release" || build_type == "RelWithDebInfo" || build_type == "MinSizeRel";
}

std::optional<Warning> debug_build(const RunRecord& record) {
  const Environment& environment = record.environment;
  const bool worker = environment.worker_debug.value_or(false);
  const bool libtorch = environment.libtorch_build && !is_release(*environment.libtorch_build);
  if (!worker && !libtorch) return std::nullopt;
  const std::string which = worker && libtorch ? "the worker and LibTorch are debug builds"
                            : worker ? "the worker is a debug build (assertions on, or not optimized)"
                                     : "LibTorch is a debug build (" + *environment.libtorch_build + ")";
  return Warning{"debug_build", which +
                                    ": its times say nothing of a release; configure with "
                                    "-DCMAKE_BUILD_TYPE=Release, or take a released LibTorch"};
}

std::optional<Warning> sanitizer_build(const RunRecord& record) {
  const auto& sanitizers = record.environment.sanitizers;
  if (!sanitizers || *sanitizers == "none") return std::nullopt;
  return Warning{
      "sanitizer_build",
      fmt::format("sanitizers ({}) ran in the worker and slow it down: build without -fsanitize, and "
                  "unset LD_PRELOAD where it loads one",
                  *sanitizers)};
}

std::optional<Warning> ruler_moved_warning(const RunRecord& record) {
  if (!record.ruler || !ruler_moved(*record.ruler)) return std::nullopt;
  return Warning{
      "ruler_moved",
      fmt::format(
          "the machine's own speed changed during the run: its slowest reading of a fixed matrix product "
          "was {:.0f} % above the fastest, of a memory copy {:.0f} %; look for other load, a shared host "
          "or a clock that is not held, and measure again when it is quiet",
          100 * reading_spread(record.ruler->matmul_s), 100 * reading_spread(record.ruler->copy_s))};
}

}  // namespace

std::vector<Warning> machine_warnings(const RunRecord& record) {
  std::vector<Warning> warnings;
  for (const auto find : {debug_build, sanitizer_build, ruler_moved_warning}) {
    if (auto found = find(record)) warnings.push_back(std::move(*found));
  }
  return warnings;
}

}  // namespace flopmark
