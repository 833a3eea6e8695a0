// antenna and jlbh: an order over loopback and its report back, both sides in this
// process, sent by a fixed schedule whether or not earlier reports have arrived.
#ifndef QF_BENCH_ROUND_TRIP_H
#define QF_BENCH_ROUND_TRIP_H

#include "options.h"

// Writes the samples and prints a line about the run. Returns the exit status.
int roundTrip(const Options &options);

#endif
