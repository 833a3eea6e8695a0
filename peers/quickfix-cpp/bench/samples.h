// The times of every message of a run, and the schedule by which they are sent.
#ifndef QF_BENCH_SAMPLES_H
#define QF_BENCH_SAMPLES_H

#include "options.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

// Messages are numbered from 0; those of the warm-up are first. One thread sends,
// another one receives.
class Samples {
public:
  explicit Samples(const Options &options);

  // Sends the warm-up, waits for its answers, then sends the rest and waits again.
  // `send` gets the number of a message, and when it began (CLOCK_MONOTONIC).
  void run(const std::function<void(long long number, long long started)> &send);

  // Notes when the answer to a message had been parsed.
  void answered(long long number, long long at);
  // Returns the number of the message that began then; -1 if there is none among
  // those that have not been answered. Answers arrive in the order of the messages.
  long long begunAt(long long started) const;

  // Writes what followed the warm-up.
  void write(const std::string &path) const;
  // Returns how many messages after the warm-up have no answer.
  long long lost() const;

private:
  struct Sample {
    long long intended = 0;
    std::atomic<long long> started{0}, ended{0};
  };

  void sendFrom(long long first, long long end,
                const std::function<void(long long, long long)> &send);
  void waitForAnswers(long long end) const;

  const Options &m_options;
  std::vector<Sample> m_samples;
  std::atomic<long long> m_next{0};
};

#endif
