// The calls that tests make to a store under test, whichever it is.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "storage/scheme.h"
#include "tests/support/counts.h"
#include "tests/support/run_task.h"
#include "tests/support/stored_object.h"

namespace testing_support {

/// Each call runs to its end on the store's io_context. `Store`, which derives from this, has
/// `io()` and `scheme()`. Nothing is held here, so that the order in which a store's parts go is
/// its own.
template <class Store>
class StoreCalls {
 public:
  template <class T>
  storage::Result<T> run(storage::Task<T> task) {
    return run_task(store().io(), std::move(task));
  }

  storage::Result<void> put(std::string key, StoredObject object,
                            BodySize size = BodySize::kKnown) {
    return run(store_object(store().scheme(), std::move(key), std::move(object), size));
  }
  storage::Result<StoredObject> get(std::string key) {
    return run(load_object(store().scheme(), std::move(key)));
  }
  storage::Result<std::unique_ptr<storage::Reader>> open(std::string key) {
    return run(store().scheme().open(storage::Key(std::move(key))));
  }
  storage::Result<std::unique_ptr<storage::Writer>> create(
      std::string key, std::string metadata, std::optional<uint64_t> size_bytes = std::nullopt) {
    return run(store().scheme().create(storage::Key(std::move(key)),
                                       storage::Metadata(std::move(metadata)), size_bytes));
  }
  storage::Result<void> update(std::string key, std::string metadata) {
    return run(store().scheme().update(storage::Key(std::move(key)),
                                       storage::Metadata(std::move(metadata))));
  }
  storage::Result<void> remove(std::string key) {
    return run(store().scheme().remove(storage::Key(std::move(key))));
  }
  storage::Result<void> stop(storage::StopMode mode = storage::StopMode::kDrain) {
    const auto stopped = run(store().scheme().stop(mode));
    run_the_rest();
    return stopped;
  }

  double count(std::string_view name, std::string_view label = "") {
    Counts counts;
    store().scheme().visit_counters(counts);
    return counts.of(name, label);
  }

  /// Lets work in the background end. Nothing may stand at a gate.
  void run_the_rest() {
    store().io().restart();
    store().io().run();
  }

 private:
  Store& store() { return static_cast<Store&>(*this); }
};

}  // namespace testing_support
