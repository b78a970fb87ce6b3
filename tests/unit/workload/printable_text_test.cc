#include "workload/report/printable_text.h"

#include <gtest/gtest.h>

namespace workload {
namespace {

TEST(PrintableText, LettersOfAllScriptsStay) {
  const std::string text = "ufs, \xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa7 \xd7\xa9";
  EXPECT_EQ(printable(text), text);
}

TEST(PrintableText, WhatATerminalObeysDoesNot) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\x7f"), "a?[31mb?c?");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a?31m")
      << "CSI of C1";
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xe2\x81\xa6"
                      "c\xe2\x80\xa8"),
            "a?b?c?");
}

TEST(PrintableText, EachByteThatIsNoUtf8IsReplaced) {
  EXPECT_EQ(printable("\xff\xc0\x80z"), "???z");
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(printable("\xe2\x82"), "??") << "half a character";
}

TEST(PrintableText, IsCutBetweenCharacters) {
  EXPECT_EQ(cut_text("abc", 3), "abc");
  EXPECT_EQ(cut_text("abc", 2), "ab");
  EXPECT_EQ(cut_text("a\xe2\x82\xac", 3), "a");
  EXPECT_EQ(cut_text("\xe2\x82\xac\xe2\x82\xac", 5), "\xe2\x82\xac");
}

}  // namespace
}  // namespace workload
