#include "workload/experiment/storage_account.h"

#include <gtest/gtest.h>

#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr std::string_view kPage =
    "# TYPE cacheoff_proxy_requests_all_total counter\n"
    "cacheoff_proxy_requests_all_total 200\n"
    "cacheoff_storage_operations_total{scheme=\"ufs\",operation=\"open\"} 150\n"
    "cacheoff_storage_operations_total{scheme=\"ufs\",operation=\"create\"} 50\n"
    "cacheoff_storage_operations_total{scheme=\"ufs\",operation=\"update\"} 0\n"
    "cacheoff_storage_declines_total{scheme=\"ufs\",reason=\"overloaded\"} 7\n"
    "cacheoff_storage_declines_total{scheme=\"ufs\",reason=\"too_large\"} 0\n"
    "cacheoff_storage_commits_total{scheme=\"ufs\",result=\"published\"} 40\n"
    "cacheoff_storage_commits_total{scheme=\"ufs\",result=\"failed\"} 3\n"
    "cacheoff_storage_published_bytes_total{scheme=\"ufs\"} 1000\n"
    "cacheoff_storage_evictions_total{scheme=\"ufs\"} 5\n"
    "cacheoff_storage_io_operations_total{scheme=\"ufs\",operation=\"write\"} 60\n"
    "cacheoff_storage_io_operations_total{scheme=\"ufs\",operation=\"read\"} 90\n"
    "cacheoff_storage_io_bytes_total{scheme=\"ufs\",operation=\"write\"} 1100\n"
    "cacheoff_storage_io_bytes_total{scheme=\"ufs\",operation=\"read\"} 3000\n";

TEST(StorageAccount, IsWhatThePageSays) {
  const auto account = account_storage(kPage);
  ASSERT_TRUE(account);
  EXPECT_EQ(sum_at(*account, "operations"), 200U);
  EXPECT_EQ(count_at(*account, "operations.open"), 150U);
  EXPECT_EQ(find_json(*account, "operations.update"), nullptr);
  EXPECT_EQ(count_at(*account, "declined.overloaded"), 7U);
  EXPECT_EQ(find_json(*account, "declined.too_large"), nullptr);
  EXPECT_EQ(count_at(*account, "published"), 40U);
  EXPECT_EQ(count_at(*account, "evictions"), 5U);
  EXPECT_EQ(count_at(*account, "io_written_bytes"), 1100U);
  EXPECT_DOUBLE_EQ(number_at(*account, "write_amplification").value_or(0), 1.1);
  EXPECT_DOUBLE_EQ(number_at(*account, "io_per_request").value_or(0), 0.75);
}

TEST(StorageAccount, WhatThePageDoesNotSayIsNull) {
  const auto account = account_storage("cacheoff_storage_operations_total{operation=\"open\"} 1\n");
  ASSERT_TRUE(account);
  for (const char* key : {"evictions", "write_amplification", "io_per_request", "published"}) {
    EXPECT_TRUE(account->at(key).is_null()) << key;
  }
}

TEST(StorageAccount, AnotherProxysPageHasNone) {
  EXPECT_FALSE(account_storage(""));
  EXPECT_FALSE(account_storage("nginx_requests_total 5\n"));
}

TEST(StorageAccount, LinesThatAreNoSamplesAreLeftOut) {
  const auto samples =
      parse_metrics(" 5\nname\nname x\nname 1e999\nname 5x\n\n#c 1\nok{a=\"b c\"} 2");
  EXPECT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples.at("ok{a=\"b c\"}"), 2);
}

}  // namespace
}  // namespace workload
