#include "tests/bench/samples.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

namespace bench {

namespace {

// How many samples lie outside of a 95 % interval of the median at each end; negative where there
// are too few.
int outside(size_t count) {
  double term = std::pow(0.5, static_cast<double>(count));
  double sum = 0;
  for (size_t k = 0; k < count; ++k) {
    sum += term;
    if (sum > 0.025) return static_cast<int>(k) - 1;
    term *= static_cast<double>(count - k) / static_cast<double>(k + 1);
  }
  return -1;
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(value >= 1000 ? 0 : 3);
  text << std::fixed << value;
  return text.str();
}

}  // namespace

std::vector<double> Samples::sorted() const {
  std::vector<double> values = values_;
  std::ranges::sort(values);
  return values;
}

double Samples::median() const {
  const std::vector<double> values = sorted();
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

bool Samples::interval(double& low, double& high) const {
  const int skipped = outside(values_.size());
  if (skipped < 0) return false;
  const std::vector<double> values = sorted();
  low = values[static_cast<size_t>(skipped)];
  high = values[values.size() - 1 - static_cast<size_t>(skipped)];
  return true;
}

std::string Samples::line() const {
  if (values_.empty()) return name_ + ": no valid result";
  std::string text = name_ + ": " + number(median()) + (unit_.empty() ? "" : " " + unit_);
  double low = 0;
  double high = 0;
  if (interval(low, high)) return text + "  [" + number(low) + ", " + number(high) + "]";
  if (values_.size() == 1) return text;
  const std::vector<double> values = sorted();
  return text + "  (" + number(values.front()) + " to " + number(values.back()) +
         "; no interval below 6 rounds)";
}

boost::json::object Samples::json() const {
  boost::json::object object;
  object["name"] = name_;
  object["unit"] = unit_;
  object["n"] = values_.size();
  object["samples"] = boost::json::value_from(values_);
  object["median"] = values_.empty() ? boost::json::value() : boost::json::value(median());
  double low = 0;
  double high = 0;
  const bool known = interval(low, high);
  object["low"] = known ? boost::json::value(low) : boost::json::value();
  object["high"] = known ? boost::json::value(high) : boost::json::value();
  return object;
}

void Report::add(const std::string& part, const Samples& samples) {
  std::cout << "  " << samples.line() << std::endl;
  boost::json::object figure = samples.json();
  figure["part"] = part;
  figures_.push_back(std::move(figure));
}

void Report::note(const std::string& text) {
  std::cout << text << std::endl;
  notes_.push_back(boost::json::value(text));
}

bool Report::write(const std::string& file, const std::string& command) const {
  utsname system{};
  ::uname(&system);
  boost::json::object all;
  all["command"] = command;
  all["kernel"] = system.release;
  all["processors"] = std::thread::hardware_concurrency();
  all["notes"] = notes_;
  all["figures"] = figures_;
  std::ofstream out(file);
  out << boost::json::serialize(all) << "\n";
  return static_cast<bool>(out.flush());
}

}  // namespace bench
