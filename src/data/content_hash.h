#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace flopmark {

/// A 64-bit fingerprint of a byte stream, for telling data sets apart: FNV-1a (Fowler, Noll, Vo) taken eight
/// bytes at a time for speed, the last word padded with zeros, and the length as a final word. Not
/// cryptographic: it notices accidents, not intent.
class ContentHash {
 public:
  /// Every part but the last must be a multiple of 8 bytes long.
  void add(std::span<const std::byte> part) {
    length_ += part.size();
    for (; part.size() >= sizeof(uint64_t); part = part.subspan(sizeof(uint64_t))) mix(word(part));
    if (!part.empty()) mix(word(part));
  }
  uint64_t value() const { return (state_ ^ length_) * kPrime; }

 private:
  static constexpr uint64_t kPrime = 0x100000001b3;
  static uint64_t word(std::span<const std::byte> part) {
    uint64_t value = 0;
    std::memcpy(&value, part.data(), part.size() < sizeof(value) ? part.size() : sizeof(value));
    return value;
  }
  void mix(uint64_t word) { state_ = (state_ ^ word) * kPrime; }

  uint64_t state_ = 0xcbf29ce484222325;  // FNV's offset basis
  uint64_t length_ = 0;
};

}  // namespace flopmark
