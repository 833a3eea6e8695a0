#include "samples.h"

#include "clock.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace {

// Sleeps, and polls the clock at the end, because a sleep ends late.
void waitUntil(long long due) {
  const long long lastStretch = 150000;
  long long wake = due - lastStretch;
  if (wallNanos() < wake) {
    timespec until = {static_cast<time_t>(wake / 1000000000), static_cast<long>(wake % 1000000000)};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }
  while (wallNanos() < due) {
  }
}

} // namespace

Samples::Samples(const Options &options)
    : m_options(options), m_samples(static_cast<size_t>(options.warmUp + options.messages)) {}

void Samples::run(const std::function<void(long long, long long)> &send) {
  long long end = static_cast<long long>(m_samples.size());
  sendFrom(0, m_options.warmUp, send);
  waitForAnswers(m_options.warmUp);
  sendFrom(m_options.warmUp, end, send);
  waitForAnswers(end);
}

void Samples::sendFrom(long long first, long long end,
                       const std::function<void(long long, long long)> &send) {
  long long begin = wallNanos() + 10000000;
  for (long long number = first; number < end; number++) {
    Sample &sample = m_samples[static_cast<size_t>(number)];
    sample.intended = begin + (number - first) * 1000000000 / m_options.rate;
    waitUntil(sample.intended);
    long long started = wallNanos();
    sample.started = started;
    send(number, started);
  }
}

void Samples::waitForAnswers(long long end) const {
  const long long pause = 1000000;
  long long seen = m_next, silent = 0;
  while (m_next < end && silent < m_options.timeOut * 1000000000) {
    timespec step = {0, pause};
    ::nanosleep(&step, nullptr);
    silent = m_next == seen ? silent + pause : 0;
    seen = m_next;
  }
}

void Samples::answered(long long number, long long at) {
  if (number < 0 || number >= static_cast<long long>(m_samples.size()))
    return; // not ours
  m_samples[static_cast<size_t>(number)].ended = at;
  m_next = number + 1;
}

long long Samples::begunAt(long long started) const {
  long long end = static_cast<long long>(m_samples.size());
  for (long long number = m_next; number < end; number++)
    if (m_samples[static_cast<size_t>(number)].started == started)
      return number;
  return -1;
}

void Samples::write(const std::string &path) const {
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file)
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
  std::fputs("intended_ns,started_ns,ended_ns\n", file);
  for (size_t n = static_cast<size_t>(m_options.warmUp); n < m_samples.size(); n++) {
    const Sample &sample = m_samples[n];
    std::fprintf(file, "%lld,%lld,", sample.intended, sample.started.load());
    if (sample.ended > 0)
      std::fprintf(file, "%lld", sample.ended.load());
    std::fputc('\n', file);
  }
  bool failed = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || failed)
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
}

long long Samples::lost() const {
  long long count = 0;
  for (size_t n = static_cast<size_t>(m_options.warmUp); n < m_samples.size(); n++)
    count += m_samples[n].ended == 0;
  return count;
}
