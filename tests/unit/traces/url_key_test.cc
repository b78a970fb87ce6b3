#include "traces/url_key.h"

#include <gtest/gtest.h>

namespace {

using traces::absolute_url;
using traces::normalised_url;
using traces::url_extension;

TEST(NormalisedUrl, MakesEqualWhatIsEqual) {
  EXPECT_EQ(normalised_url("HTTP://WWW.Example.org:80"), "http://www.example.org/");
  EXPECT_EQ(normalised_url("http://www.example.org/#top"), "http://www.example.org/");
  EXPECT_EQ(normalised_url("https://a:443/B?C=d"), "https://a/B?C=d");
  EXPECT_EQ(normalised_url("http://a:/"), "http://a/");
  EXPECT_EQ(normalised_url("http://a?x"), "http://a/?x");
  EXPECT_EQ(normalised_url("http://[2001:DB8::1]:8080/"), "http://[2001:db8::1]:8080/");
  EXPECT_EQ(normalised_url("http://User@Host/"), "http://User@host/");
}

TEST(NormalisedUrl, KeepsApartWhatIsNot) {
  EXPECT_EQ(normalised_url("http://a:443/"), "http://a:443/");
  EXPECT_EQ(normalised_url("http://a/%7Eb"), "http://a/%7Eb");
  EXPECT_EQ(normalised_url("http://a/?"), "http://a/?");
  EXPECT_NE(normalised_url("http://a/x"), normalised_url("https://a/x"));
}

TEST(NormalisedUrl, RefusesWhatNamesNoHost) {
  for (const char* url : {"", "/", "-", "*", "a:443", "error:invalid-request", "http://", "://a/",
                          "http:///x", "http://:80/", "9p://a/", "urn:x:y"}) {
    EXPECT_FALSE(normalised_url(url)) << url;
  }
}

TEST(AbsoluteUrl, PutsTheHostInFrontOfPathsOnly) {
  EXPECT_EQ(absolute_url("/a?b", "www.example.org"), "http://www.example.org/a?b");
  EXPECT_EQ(absolute_url("/a", "www.example.org:443"), "https://www.example.org:443/a");
  EXPECT_EQ(absolute_url("http://b/a", "www.example.org"), "http://b/a");
  EXPECT_EQ(absolute_url("*", "www.example.org"), "*");
}

TEST(UrlExtension, IsThePathsOwn) {
  EXPECT_EQ(url_extension("http://a.org/b/C.PNG?d.gif"), "png");
  EXPECT_EQ(url_extension("http://a.org/b.c/d"), "");
  EXPECT_EQ(url_extension("http://a.org"), "");
  EXPECT_EQ(url_extension("http://a.org/x.waytoolongforone"), "");
  EXPECT_EQ(url_extension(""), "");
}

}  // namespace
