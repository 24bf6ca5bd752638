#pragma once

#include "flopmark/record.h"
#include "hardware/environment_fields.h"
#include "measure/conditions_fields.h"

namespace flopmark {

// One description per struct of a record, walked by the writer and by the reader of its JSON, so that a key
// is named in one place only. `V::Of<T>` is T for a reader and const T for a writer; `visit(key, field)` does
// the work.

template <typename V>
void describe(V& visit, typename V::template Of<Warning>& warning) {
  visit("code", warning.code);
  visit("text", warning.text);
}

template <typename V>
void describe(V& visit, typename V::template Of<Subject>& subject) {
  visit("commit", subject.commit);
  visit("dirty", subject.dirty);
  visit("branch", subject.branch);
  visit("reason", subject.reason);
}

template <typename V>
void describe(V& visit, typename V::template Of<Peak>& peak) {
  visit("flop_per_s", peak.flop_per_s);
  visit("precision", peak.precision);
  visit("source", peak.source);
  visit("device", peak.device);
  visit("reason", peak.reason);
  visit("derivation", peak.derivation);
}

template <typename V>
void describe(V& visit, typename V::template Of<StepStatistics>& statistics) {
  visit("median", statistics.median);
  visit("mean", statistics.mean);
  visit("p10", statistics.p10);
  visit("p90", statistics.p90);
  visit("p99", statistics.p99);
  visit("ci95_low", statistics.ci95_low);
  visit("ci95_high", statistics.ci95_high);
}

template <typename V>
void describe(V& visit, typename V::template Of<Phases>& phases) {
  visit("data_s", phases.data_s);
  visit("transfer_s", phases.transfer_s);
  visit("forward_s", phases.forward_s);
  visit("backward_s", phases.backward_s);
  visit("communication_exposed_s", phases.communication_exposed_s);
  visit("optimizer_s", phases.optimizer_s);
  visit("other_s", phases.other_s);
  visit("data_wait_host_s", phases.data_wait_host_s);
}

template <typename V>
void describe(V& visit, typename V::template Of<RankSummary>& rank) {
  visit("rank", rank.rank);
  visit("host", rank.host);
  visit("device_name", rank.device_name);
  visit("device_uuid", rank.device_uuid);
  visit("step_s", rank.step_s);
  visit("compute_s", rank.compute_s);
  visit("communication_s", rank.communication_s);
  visit("communication_exposed_s", rank.communication_exposed_s);
  visit("samples_per_s", rank.samples_per_s);
  visit("memory_peak_bytes", rank.memory_peak_bytes);
}

template <typename V>
void describe(V& visit, typename V::template Of<CommunicationSummary>& communication) {
  visit("backend", communication.backend);
  visit("collective", communication.collective);
  visit("bytes_per_step", communication.bytes_per_step);
  visit("total_s", communication.total_s);
  visit("exposed_s", communication.exposed_s);
  visit("bus_bandwidth_bytes_per_s", communication.bus_bandwidth_bytes_per_s);
  visit("exposed_ratio", communication.exposed_ratio);
  visit("exposed_reason", communication.exposed_reason);
}

template <typename V>
void describe(V& visit, typename V::template Of<WarmupSummary>& warmup) {
  visit("steps", warmup.steps);
  visit("first_step_s", warmup.first_step_s);
  visit("steady", warmup.steady);
  visit("reason", warmup.reason);
}

template <typename V>
void describe(V& visit, typename V::template Of<Failure>& failure) {
  visit("kind", failure.kind);
  visit("phase", failure.phase);
  visit("step", failure.step);
  visit("text", failure.text);
  visit("rank", failure.rank);
  visit("host", failure.host);
}

template <typename V>
void describe(V& visit, typename V::template Of<Repeat>& repeat) {
  visit("steps", repeat.steps);
  visit("samples", repeat.samples);
  visit("tokens", repeat.tokens);
  visit("images", repeat.images);
  visit("wall_s", repeat.wall_s);
  visit("block_means_s", repeat.block_means_s);
  visit("loss_first", repeat.loss_first);
  visit("loss_last", repeat.loss_last);
  visit("skipped_steps", repeat.skipped_steps);
  visit("step_s", repeat.step_s);
}

template <typename V>
void describe(V& visit, typename V::template Of<DataSummary>& data) {
  visit("path", data.path);
  visit("format", data.format);
  visit("hash", data.hash);
  visit("samples", data.samples);
  visit("tokens", data.tokens);
  visit("model_hash", data.model_hash);
}

template <typename V>
void describe(V& visit, typename V::template Of<RunRecord>& record) {
  visit("name", record.name);
  visit("status", record.status);
  visit("time", record.time);
  visit("command_line", record.command_line);
  visit("flopmark_version", record.flopmark_version);
  visit("warnings", record.warnings);
  visit("config", record.config);
  visit("subject", record.subject);
  visit("environment", record.environment);
  visit("data", record.data);
  visit("parameters", record.parameters);
  visit("attention_kernel", record.attention_kernel);
  visit("flops", record.flops);
  visit("peak", record.peak);
  visit("metrics", record.metrics);
  visit("phases", record.phases);
  visit("ranks", record.ranks);
  visit("communication", record.communication);
  visit("conditions", record.conditions);
  visit("ruler", record.ruler);
  visit("warmup", record.warmup);
  visit("failure", record.failure);
  visit("repeats", record.repeats);
}

}  // namespace flopmark
