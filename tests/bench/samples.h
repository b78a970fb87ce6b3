// Figures of a benchmark over its rounds, for people and for programs.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// One figure, measured once a round.
class Samples {
 public:
  Samples(std::string name, std::string unit) : name_(std::move(name)), unit_(std::move(unit)) {}

  void add(double value) { values_.push_back(value); }
  bool empty() const { return values_.empty(); }
  double median() const;
  /// Of the median, at least 95 %, from the order of the samples alone (binomial); false where
  /// there are fewer than the six samples that this needs.
  bool interval(double& low, double& high) const;

  /// `name  median unit  [low, high]`, or how many rounds are missing.
  std::string line() const;
  boost::json::object json() const;

 private:
  std::vector<double> sorted() const;

  std::string name_;
  std::string unit_;
  std::vector<double> values_;
};

/// All figures of a run.
class Report {
 public:
  /// Prints the figure and keeps it.
  void add(const std::string& part, const Samples& samples);
  /// Prints and keeps what has to be known to understand the figures.
  void note(const std::string& text);
  /// Writes everything to `file` as JSON; false where that fails.
  bool write(const std::string& file, const std::string& command) const;

 private:
  boost::json::array figures_;
  boost::json::array notes_;
};

}  // namespace bench
