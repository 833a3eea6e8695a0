// The command line: a test, then `--name value` pairs.
#ifndef QF_BENCH_OPTIONS_H
#define QF_BENCH_OPTIONS_H

#include <stdexcept>
#include <string>

// Thrown if the command line is wrong; what() says how.
struct BadUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  // Throws BadUsage if an option is unknown, lacks its value, or does not belong to the test.
  static Options parse(int argc, char **argv);

  std::string test;
  long long messages = 0, runs = 10, rate = 0, warmUp = 0, timeOut = 10;
  bool validate = false;
  std::string dictionary, samples, directory;
};

#endif
