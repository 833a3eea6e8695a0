// The two clocks: CLOCK_MONOTONIC, which all programs of a comparison share, and
// the CPU time of the calling thread. Both in nanoseconds.
#ifndef QF_BENCH_CLOCK_H
#define QF_BENCH_CLOCK_H

#include <ctime>

inline long long nanosOf(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

inline long long wallNanos() { return nanosOf(CLOCK_MONOTONIC); }
inline long long threadNanos() { return nanosOf(CLOCK_THREAD_CPUTIME_ID); }

#endif
