// The figures: gnuplot scripts and their data, and the pictures where gnuplot is installed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/report/results.h"
#include "workload/report/summary.h"

namespace workload {

/// A figure by the name of its files in `figures/`.
struct Figure {
  std::string name;  ///< `throughput_trace`: .gp, .svg and .png, and .csv for its data.
  std::string title;
  std::string script;  ///< Content of the .gp; run it inside `figures/`.
  std::string data;    ///< Content of the .csv; empty where the script reads the cells' own files.
};

/// A script that draws NAME.svg and NAME.png, `height` pixels high, in the look of all figures.
/// `settings` come before the terminal is set, `plot` is the plot command.
std::string figure_script(const std::string& name, const std::string& settings,
                          const std::string& plot, unsigned height);

/// All figures of an experiment: the throughput trace with one line a cell, throughput as bars with
/// its interval, the percentiles of the response time (of all, hits and misses), and the hit ratio
/// beside the offered one. Cells without a result are left out; without any result there is no
/// figure.
std::vector<Figure> make_figures(const std::filesystem::path& folder, const Results& results,
                                 const std::vector<SummaryRow>& rows);

/// Writes scripts and data to FOLDER/figures and draws them. Says whether pictures were drawn:
/// false where there is no gnuplot. A Problem where a file can't be written or gnuplot fails.
Expected<bool> draw_figures(const std::filesystem::path& folder,
                            const std::vector<Figure>& figures);

/// `gnuplot 5.4 patchlevel 4`, or nothing where it is not installed.
std::string gnuplot_version();

/// A string as gnuplot reads it back, in single quotes.
std::string gnuplot_quoted(const std::string& text);

}  // namespace workload
