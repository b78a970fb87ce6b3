// The processes that make one workload together, and how they reach each other.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace workload {

/// What one process sent to another.
struct EnsembleMessage {
  size_t from = 0;
  std::string bytes;
};

/// This process' place among its companions, and a way to send them messages. What comes is
/// foreign: readers check it. Used on one thread, the process' main one.
class Ensemble {
 public:
  virtual ~Ensemble() = default;

  /// From 0; the process of rank 0 leads.
  virtual size_t rank() const = 0;
  virtual size_t size() const = 0;
  /// The machine's name, for people.
  virtual std::string host() const = 0;

  /// Sends and does not wait. Messages from one process to another arrive in order.
  virtual void send(size_t to, std::string bytes) = 0;
  /// A message that has come, if one has. Does not wait.
  virtual std::optional<EnsembleMessage> receive() = 0;
  /// Waits until what was sent has left this process, `wait_max` at most; false where it has not.
  virtual bool flush(std::chrono::nanoseconds wait_max) = 0;
  /// Ends all processes now, also those that do not answer; where it can, this one too.
  virtual void abandon(int exit_status) = 0;
};

/// A process by itself.
class LoneEnsemble final : public Ensemble {
 public:
  size_t rank() const override { return 0; }
  size_t size() const override { return 1; }
  std::string host() const override { return {}; }
  void send(size_t, std::string) override {}
  std::optional<EnsembleMessage> receive() override { return std::nullopt; }
  bool flush(std::chrono::nanoseconds) override { return true; }
  void abandon(int) override {}
};

}  // namespace workload
