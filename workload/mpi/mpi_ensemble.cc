#include "workload/mpi/mpi_ensemble.h"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <limits>
#include <list>
#include <stdexcept>
#include <thread>

namespace workload {
namespace {

namespace mpi = boost::mpi;

/// The only kind of message.
constexpr int kTag = 1;
constexpr std::chrono::microseconds kFlushPoll{100};

class MpiEnsemble final : public Ensemble {
 public:
  MpiEnsemble() : environment_(mpi::threading::funneled) {}

  size_t rank() const override { return static_cast<size_t>(world_.rank()); }
  size_t size() const override { return static_cast<size_t>(world_.size()); }
  std::string host() const override { return mpi::environment::processor_name(); }

  void send(size_t to, std::string bytes) override {
    if (bytes.size() > std::numeric_limits<int>::max()) {
      throw std::length_error("a message to rank " + std::to_string(to) + " is over 2 GiB");
    }
    forget_sent();
    Sent& sent = sent_.emplace_back();
    sent.bytes = std::move(bytes);
    sent.request = world_.isend(static_cast<int>(to), kTag, sent.bytes.data(),
                                static_cast<int>(sent.bytes.size()));
  }

  std::optional<EnsembleMessage> receive() override {
    forget_sent();
    const auto status = world_.iprobe(mpi::any_source, kTag);
    if (!status) return std::nullopt;
    EnsembleMessage got;
    got.from = static_cast<size_t>(status->source());
    const int size = status->count<char>().value_or(0);
    got.bytes.resize(static_cast<size_t>(size));
    world_.recv(status->source(), kTag, got.bytes.data(), size);
    return got;
  }

  bool flush(std::chrono::nanoseconds wait_max) override {
    const auto until = std::chrono::steady_clock::now() + wait_max;
    for (forget_sent(); !sent_.empty(); forget_sent()) {
      if (std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::sleep_for(kFlushPoll);
    }
    return true;
  }

  void abandon(int exit_status) override { world_.abort(exit_status); }

 private:
  /// A message on its way: MPI reads it until the request is done.
  struct Sent {
    std::string bytes;
    mpi::request request;
  };

  void forget_sent() {
    sent_.remove_if([](Sent& sent) { return sent.request.test().has_value(); });
  }

  mpi::environment environment_;
  mpi::communicator world_;
  std::list<Sent> sent_;
};

}  // namespace

std::unique_ptr<Ensemble> join_mpi() {
  return std::make_unique<MpiEnsemble>();
}

}  // namespace workload
