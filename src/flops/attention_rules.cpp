#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "flops/checked_math.h"
#include "flops/rules.h"

// Attention (Vaswani et al., arXiv:1706.03762): scores Q K^T and values P V, so 2 H S_q S_k (E + V) per
// sequence, H the query heads (grouped key/value heads are read again, not multiplied less), E and V the head
// sizes. In full: a causal mask does not lower it. Softmax, scale, mask and dropout are not counted. Backward
// (Dao et al., arXiv:2205.14135): dV = P^T dO, dP = dO V^T, dQ = dS K, dK = dS^T Q: 4 products. A fused
// kernel computes Q K^T once more: 5 products in the hardware count.

namespace flopmark {
namespace {

/// What the FLOPs follow from: query heads times the pairs of positions, over all sequences, and the two head
/// sizes.
struct Extent {
  int64_t pairs = 0, key_size = 0, value_size = 0;
  bool square = false;  ///< as many keys as queries, in every sequence
};

/// Which products a backward needs. Where no gradient at all is marked as wanted, all are: the marks were
/// lost.
struct Wanted {
  bool query = true, key = true, value = true, bias = false;
};

/// Whether a call is causal: the flag at `place` (the first one after it where an overload has more arguments
/// before), or the kind of mask (0 none) of efficient attention; false where the argument was left out.
bool causal_at(const OperatorCall& call, size_t place) {
  for (; place < call.arguments.size(); ++place) {
    if (const auto* kind = std::get_if<int64_t>(&call.arguments[place])) {
      return *kind != 0;
    }
    if (const auto* flag = std::get_if<bool>(&call.arguments[place])) {
      return *flag;
    }
  }
  return false;
}

OperatorFlop forward(const Extent& extent, bool causal) {
  const int64_t flop = checked_product({2, extent.pairs, checked_add(extent.key_size, extent.value_size)});
  return {flop, flop, causal && extent.square};
}

OperatorFlop backward(const Extent& extent, const Wanted& wanted, bool causal) {
  const int64_t keys = int64_t{wanted.query} + int64_t{wanted.key};
  const int64_t values = int64_t{wanted.value} + int64_t{wanted.query || wanted.key || wanted.bias};
  const auto products = [&](int64_t of_key_size, int64_t of_value_size) {
    const int64_t width = checked_add(checked_multiply(of_key_size, extent.key_size),
                                      checked_multiply(of_value_size, extent.value_size));
    return checked_product({2, extent.pairs, width});
  };
  return {products(keys, values), products(3, 2), causal && extent.square};
}

/// From the marks on query, key and value.
Wanted wanted_by_marks(const OperatorCall& call, size_t query) {
  const Wanted marks = {tensor_at(call, query).needs_grad, tensor_at(call, query + 1).needs_grad,
                        tensor_at(call, query + 2).needs_grad};
  return marks.query || marks.key || marks.value ? marks : Wanted{};
}

Wanted wanted_by_mask(const OperatorCall& call, size_t place) {
  const auto& mask = bools_at(call, place);
  return {mask.at(0), mask.at(1), mask.at(2), mask.at(3)};
}

/// Query [B, H, S_q, E], key [B, H_kv, S_k, E], value [B, H_kv, S_k, V]; `Heads` and `Positions` say which
/// dimension is which, for kernels that take [B, S, H, E].
template <size_t Heads, size_t Positions>
Extent dense_extent(const OperatorCall& call, size_t query) {
  const auto &q = sizes_at(call, query, 4), &k = sizes_at(call, query + 1, 4),
             &v = sizes_at(call, query + 2, 4);
  return {checked_product({q[0], q[Heads], q[Positions], k[Positions]}), q[3], v[3],
          q[Positions] == k[Positions]};
}

/// Lengths of sequences from their offsets 0, l1, l1 + l2, ...
std::vector<int64_t> lengths_from_offsets(const OperatorCall& call, size_t place) {
  const auto& offsets = tensor_at(call, place).values;
  if (offsets.size() < 2) {
    throw std::invalid_argument(fmt::format("{}: the offsets of its sequences are not known", call.name));
  }
  std::vector<int64_t> lengths;
  for (size_t i = 1; i < offsets.size(); ++i) {
    lengths.push_back(offsets[i] - offsets[i - 1]);
  }
  return lengths;
}

/// Sequences of different lengths packed one after the other, [total, H, E] or [1, total, H, E]: each attends
/// to itself.
Extent packed_extent(const OperatorCall& call, size_t query, size_t query_offsets) {
  const auto &q = tensor_at(call, query).sizes, &v = tensor_at(call, query + 2).sizes;
  const auto query_lengths = lengths_from_offsets(call, query_offsets);
  const auto key_lengths = lengths_from_offsets(call, query_offsets + 1);
  if (query_lengths.size() != key_lengths.size() || q.size() < 3 || v.size() < 3) {
    throw std::invalid_argument(fmt::format("{}: query and key sequences do not match", call.name));
  }
  int64_t pairs = 0;
  for (size_t i = 0; i < query_lengths.size(); ++i) {
    pairs = checked_add(pairs, checked_multiply(query_lengths[i], key_lengths[i]));
  }
  return {checked_multiply(pairs, q[q.size() - 2]), q.back(), v.back(), query_lengths == key_lengths};
}

/// Packed where offsets are given, else dense with positions before heads (flash, efficient) or after
/// (cuDNN).
template <size_t Query, size_t Offsets, size_t Heads>
Extent varlen_extent(const OperatorCall& call) {
  return find_tensor(call, Offsets) != nullptr ? packed_extent(call, Query, Offsets)
                                               : dense_extent<Heads, 3 - Heads>(call, Query);
}

/// Key lengths given apart or pages of a cache: the keys attended to are not those of the key's shape.
template <size_t... Places>
void refuse_key_lengths(const OperatorCall& call) {
  if (((find_tensor(call, Places) != nullptr) || ...)) {
    throw std::invalid_argument(fmt::format("{}: the keys in use are not known from the shapes", call.name));
  }
}

template <size_t Causal>
OperatorFlop sdpa_forward(const OperatorCall& call) {
  return forward(dense_extent<1, 2>(call, 0), causal_at(call, Causal));
}

template <size_t Causal>
OperatorFlop sdpa_backward(const OperatorCall& call) {
  return backward(dense_extent<1, 2>(call, 1), wanted_by_marks(call, 1), causal_at(call, Causal));
}

template <size_t Mask, size_t Causal>
OperatorFlop sdpa_backward_masked(const OperatorCall& call) {
  return backward(dense_extent<1, 2>(call, 1), wanted_by_mask(call, Mask), causal_at(call, Causal));
}

template <size_t Query>
OperatorFlop flash_forward(const OperatorCall& call) {
  refuse_key_lengths<Query + 13, Query + 15, Query + 16>(
      call);  // seqused_k, block_table, seqused_k (quantized)
  return forward(varlen_extent<Query, Query + 3, 2>(call), causal_at(call, Query + 8));
}

OperatorFlop flash_backward(const OperatorCall& call) {
  return backward(varlen_extent<1, 6, 2>(call), wanted_by_marks(call, 1), causal_at(call, 11));
}

OperatorFlop efficient_forward(const OperatorCall& call) {
  refuse_key_lengths<12>(call);  // seqlen_k
  return forward(varlen_extent<0, 4, 2>(call), causal_at(call, 9));
}

OperatorFlop efficient_backward(const OperatorCall& call) {
  return backward(varlen_extent<1, 6, 2>(call), wanted_by_marks(call, 1), causal_at(call, 14));
}

OperatorFlop cudnn_forward(const OperatorCall& call) {
  refuse_key_lengths<13, 14>(call);  // seqused_k, block_table
  return forward(varlen_extent<0, 4, 1>(call), causal_at(call, 10));
}

OperatorFlop cudnn_forward_inplace(const OperatorCall& call) {
  refuse_key_lengths<10, 11>(call);
  return forward(varlen_extent<1, 4, 1>(call), causal_at(call, 8));
}

OperatorFlop cudnn_backward(const OperatorCall& call) {
  return backward(varlen_extent<1, 9, 1>(call), wanted_by_marks(call, 1), causal_at(call, 14));
}

/// Sets the last size of a tensor argument where it is larger.
void trim(OperatorCall& call, size_t place, int64_t size) {
  if (find_tensor(call, place) == nullptr) {
    return;
  }
  auto& sizes = std::get<TensorShape>(call.arguments[place]).sizes;
  if (size > 0 && !sizes.empty() && sizes.back() > size) {
    sizes.back() = size;
  }
}

}  // namespace

std::optional<AttentionScope> attention_scope(const OperatorCall& call) {
  // scaled_dot_product_attention, _scaled_dot_product_attention_math: query, key, value, attn_mask,
  // dropout_p, is_causal
  const TensorShape *query = find_tensor(call, 0), *key = find_tensor(call, 1), *value = find_tensor(call, 2);
  if (query == nullptr || key == nullptr || value == nullptr || query->sizes.size() < 2 ||
      key->sizes.size() < 2 || value->sizes.empty()) {
    return std::nullopt;
  }
  const bool square = query->sizes.end()[-2] == key->sizes.end()[-2];
  return AttentionScope{square && causal_at(call, 5), query->sizes.back(), value->sizes.back()};
}

OperatorCall without_padding(OperatorCall call, const FlopRule& rule, const AttentionScope& scope) {
  if (rule.query_at) {
    trim(call, *rule.query_at, scope.key_size);
    trim(call, *rule.query_at + 1, scope.key_size);
    trim(call, *rule.query_at + 2, scope.value_size);
  }
  return call;
}

std::vector<FlopRule> attention_rules() {
  using Places = std::vector<size_t>;
  const auto row = [](std::string_view name, OperatorFlop (*count)(const OperatorCall&), size_t query,
                      Places values_of = {}) {
    return FlopRule{.name = name, .count = count, .values_of = std::move(values_of), .query_at = query};
  };
  return {
      row("aten::_scaled_dot_product_flash_attention", sdpa_forward<4>, 0),
      row("aten::_scaled_dot_product_flash_attention_backward", sdpa_backward<11>, 1),
      row("aten::_scaled_dot_product_flash_attention_for_cpu", sdpa_forward<4>, 0),
      row("aten::_scaled_dot_product_flash_attention_for_cpu_backward", sdpa_backward<7>, 1),
      row("aten::_scaled_dot_product_efficient_attention", sdpa_forward<6>, 0),
      row("aten::_scaled_dot_product_efficient_attention_backward", sdpa_backward_masked<10, 11>, 1),
      row("aten::_scaled_dot_product_cudnn_attention", sdpa_forward<6>, 0),
      row("aten::_scaled_dot_product_cudnn_attention_backward", sdpa_backward<14>, 1),
      row("aten::_scaled_dot_product_fused_attention_overrideable", sdpa_forward<5>, 0),
      row("aten::_scaled_dot_product_fused_attention_overrideable_backward", sdpa_backward_masked<5, 13>, 1),
      row("aten::_scaled_dot_product_attention_math_for_mps", sdpa_forward<5>, 0),
      row("aten::_flash_attention_forward", flash_forward<0>, 0, {3, 4}),
      row("aten::_flash_attention_forward_no_dropout_inplace", flash_forward<1>, 1, {4, 5}),
      row("aten::_flash_attention_backward", flash_backward, 1, {6, 7}),
      row("aten::_efficient_attention_forward", efficient_forward, 0, {4, 5}),
      row("aten::_efficient_attention_backward", efficient_backward, 1, {6, 7}),
      row("aten::_cudnn_attention_forward", cudnn_forward, 0, {4, 5}),
      row("aten::_cudnn_attention_forward_no_dropout_inplace", cudnn_forward_inplace, 1, {4, 5}),
      row("aten::_cudnn_attention_backward", cudnn_backward, 1, {9, 10}),
  };
}

}  // namespace flopmark
