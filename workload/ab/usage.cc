#include "workload/ab/options.h"

namespace workload::ab {

std::string usage_text() {
  return R"(usage: cacheoff ab [options] [http://]HOST[:PORT]/PATH

Asks for one URL again and again, with ApacheBench's options and its report, and says below the
report what that leaves out (lines that begin with '+').

options of ApacheBench:
    -n requests     how many requests (1)
    -c concurrency  how many at a time (1, at most 20000)
    -t time         seconds at most; sets -n to 50000, unless an -n stands behind it
    -s timeout      seconds at most for a response (30)
    -b bytes        size of the sockets' send and receive buffers
    -B address      local address of the connections
    -k              keep connections open (HTTP keep-alive)
    -i              HEAD instead of GET
    -m method       another method
    -p file         POST this file; -T says what it is
    -u file         PUT this file; -T says what it is
    -T type         content type of -p and -u (text/plain)
    -C name=value   a cookie; repeat for more
    -H 'Name: value'  a header field; repeat for more; replaces Host, User-Agent and Accept
    -A user:password  basic authentication
    -P user:password  basic authentication for the proxy
    -X proxy:port   ask this proxy
    -l              bodies may differ in length
    -r              go on after a connection failed
    -q              no progress
    -d              no table of percentiles
    -S              no deviations, medians and warnings
    -v level        2: the request; 3: each status; 4: each head
    -w              the report as an HTML table, with -x, -y, -z attributes of table, tr and td
    -g file         each request's times, tab-separated, for gnuplot
    -e file         the time of each percentile, comma-separated
    -V, -h          version; this text
TLS (https, -f, -Z, -E, -I) is not there.

our own:
    --threads N     threads, each with its share of the connections (1)
    --repeat N      whole runs (at most 100); the report is of the median one, with an interval over
                    all
    --json FILE     every figure, for programs

exit status: 0, or 1 where the run broke off or no response was good (2xx and whole), or 2 for a
wrong command line
example: cacheoff ab -k -n 100000 -c 50 http://127.0.0.1:8080/index.html
)";
}

}  // namespace workload::ab
