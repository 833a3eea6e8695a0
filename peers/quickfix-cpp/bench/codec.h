// fix8-codec: QuickFIX's part in the comparison that Fix8 published in 2013.
#ifndef QF_BENCH_CODEC_H
#define QF_BENCH_CODEC_H

#include "options.h"

#include <stdexcept>

// Thrown if an output is not what it must be; nothing is timed then.
struct WrongOutput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Prints a line per run and operation. Returns the exit status.
int codec(const Options &options);

#endif
