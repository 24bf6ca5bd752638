#include "models/exported_program.h"

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <unordered_set>

#include "flops/observe/module_scope.h"

namespace flopmark {
namespace {

using c10::IValue;

/// The modes of the regions that a run is in; they end in the reverse order.
class Regions {
 public:
  Regions() = default;
  ~Regions() {
    while (!guards_.empty()) leave();
  }
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  void enter_grad(bool enabled) {
    guards_.push_back({std::make_unique<c10::AutoGradMode>(enabled), nullptr});
  }
  void enter_autocast(const AutocastOptions& options) {
    guards_.push_back({nullptr, std::make_unique<AutocastGuard>(options)});
  }
  void leave() { guards_.pop_back(); }

 private:
  struct Guard {
    std::unique_ptr<c10::AutoGradMode> grad;
    std::unique_ptr<AutocastGuard> autocast;
  };
  std::vector<Guard> guards_;
};

void store(IValue value, int slot, std::vector<IValue>& values) {
  if (slot >= 0) values[static_cast<size_t>(slot)] = std::move(value);
}

void store_list(const IValue& value, const std::vector<int>& slots, std::vector<IValue>& values) {
  const c10::List<at::Tensor> list = value.toTensorList();
  if (list.size() < slots.size()) {
    throw std::runtime_error(
        fmt::format("gave {} tensors where {} were exported", list.size(), slots.size()));
  }
  for (size_t i = 0; i < slots.size(); ++i) store(list.get(i), slots[i], values);
}

void store_results(const Instruction& instruction, std::vector<IValue>& stack, std::vector<IValue>& values) {
  for (size_t i = 0; i < instruction.results.size(); ++i) {
    const std::vector<int>& slots = instruction.results[i];
    if (stack[i].isTensorList()) {
      store_list(stack[i], slots, values);
    } else if (!slots.empty()) {
      store(std::move(stack[i]), slots.front(), values);
    }
  }
}

void call(const Instruction& instruction, std::vector<IValue>& stack, std::vector<IValue>& values) {
  const ModuleScope scope(instruction.module);
  stack.clear();
  for (const ArgumentPlan& argument : instruction.arguments) stack.push_back(argument.value(values));
  if (instruction.kind == Instruction::Kind::arithmetic) {
    stack = {instruction.symbolic->run(stack)};
  } else {
    instruction.op->callBoxed(stack);
  }
  store_results(instruction, stack, values);
  stack.clear();
}

std::string place_text(const Instruction& instruction) {
  const std::string module = instruction.module.empty() ? "" : ", module " + instruction.module;
  return fmt::format("in node {}, {}{}; sizes and dtypes are fixed when a model is exported",
                     instruction.name, instruction.target, module);
}

void step(const Instruction& instruction, Regions& regions, std::vector<IValue>& stack,
          std::vector<IValue>& values) {
  switch (instruction.kind) {
    case Instruction::Kind::enter_grad:
      return regions.enter_grad(instruction.grad_enabled);
    case Instruction::Kind::enter_autocast:
      return regions.enter_autocast(instruction.autocast);
    case Instruction::Kind::leave:
      return regions.leave();
    default:
      call(instruction, stack, values);
  }
}

}  // namespace

void ExportedProgram::plan_deaths(int first_mortal, const std::vector<int>& results) {
  std::unordered_set<int> alive(results.begin(), results.end());
  const auto note = [&](int slot, Instruction& last) {
    if (slot >= first_mortal && alive.insert(slot).second) last.dying.push_back(slot);
  };
  for (auto instruction = instructions.rbegin(); instruction != instructions.rend(); ++instruction) {
    for (const ArgumentPlan& argument : instruction->arguments) {
      for (const ValueSource& part : argument.parts) note(part.slot, *instruction);
    }
    for (const std::vector<int>& result : instruction->results) {
      for (const int slot : result) note(slot, *instruction);
    }
  }
}

void ExportedProgram::run(std::vector<IValue>& values) const {
  std::vector<IValue> stack;
  Regions regions;
  for (const Instruction& instruction : instructions) {
    try {
      step(instruction, regions, stack, values);
    } catch (c10::Error& error) {
      error.add_context(place_text(instruction));
      throw;
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{} ({})", error.what(), place_text(instruction)));
    }
    for (const int slot : instruction.dying) values[static_cast<size_t>(slot)] = IValue();
  }
}

}  // namespace flopmark
