#include "codec.h"

#include "clock.h"
#include "events.h"
#include "nos222.h"

#include <quickfix/DataDictionary.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace {

struct Time {
  long long wall = 0, cpu = 0;
};

// One pair of clock readings round the loop.
template <class Work> Time timed(long long messages, Work work) {
  long long cpu = threadNanos(), wall = wallNanos();
  for (long long i = 0; i < messages; i++)
    work(static_cast<size_t>(i % Nos222::ring));
  wall = wallNanos() - wall;
  return {wall, threadNanos() - cpu};
}

std::vector<std::string> fieldsOf(const std::string &text) {
  std::vector<std::string> fields;
  for (size_t at = 0, end; (end = text.find('\001', at)) != std::string::npos; at = end + 1)
    fields.push_back(text.substr(at, end - at));
  std::sort(fields.begin(), fields.end());
  return fields;
}

class Codec {
public:
  explicit Codec(const Options &options) : m_options(options) {
    if (!options.dictionary.empty())
      m_dictionary = std::make_unique<FIX::DataDictionary>(options.dictionary);
    for (int n = 0; n < Nos222::ring; n++) {
      m_ring.emplace_back(n);
      m_encoded.push_back(m_ring.back().build().toString());
    }
    check();
  }

  void run(long long number) {
    print(number, "encode", encode());
    print(number, "build-encode", timed(m_options.messages, [this](size_t n) {
            FIX::Message message = m_ring[n].build();
            use(message.toString(m_output).size());
          }));
    decode(number, "decode", [](const FIX::Message &) { return 0; });
    decode(number, "decode-typed",
           [this](const FIX::Message &message) { return readTyped(message, m_read); });
    decode(number, "decode-validated", [this](const FIX::Message &message) {
      m_dictionary->validate(message);
      return 0;
    });
  }

private:
  // QuickFIX writes the fields in its own order, by tag.
  void check() const {
    Nos222 read(0);
    for (size_t n = 0; n < m_ring.size(); n++) {
      const std::string &encoded = m_encoded[n];
      if (encoded.size() != 222 || fieldsOf(encoded) != fieldsOf(m_ring[n].text()))
        throw WrongOutput("encode: wrong message " + encoded);
      if (!m_dictionary)
        continue;
      FIX::Message message(encoded, *m_dictionary);
      if (message.toString() != encoded)
        throw WrongOutput("decode: another message than " + encoded);
      if (readTyped(message, read) != constantsOfNos222() || !(read == m_ring[n]))
        throw WrongOutput("decode-typed: wrong values of " + encoded);
      try {
        m_dictionary->validate(message);
      } catch (const std::exception &error) {
        throw WrongOutput("decode-validated: the dictionary rejects " + encoded + ": " +
                          error.what());
      }
    }
  }

  // A pair of clock readings round each call, as published. CPU time of a region
  // this short would be that of reading its clock, so it is that of the whole
  // loop less that of the same loop without the call.
  Time encode() {
    Time with = encodeLoop(true), without = encodeLoop(false);
    return {with.wall, std::max(0LL, with.cpu - without.cpu)};
  }

  Time encodeLoop(bool calling) {
    long long sum = 0;
    Time whole = timed(m_options.messages, [&](size_t n) {
      FIX::Message message = m_ring[n].build();
      long long begin = wallNanos();
      if (calling)
        message.toString(m_output);
      sum += wallNanos() - begin;
      use(m_output.size());
    });
    return {sum, whole.cpu};
  }

  // As published, the message is created on the heap and deleted.
  template <class Work> void decode(long long number, const char *operation, Work work) {
    if (!m_dictionary) {
      Line line;
      begin(line, number, operation)
          .text("unavailable", "needs --dictionary with a FIX44.xml of QuickFIX");
      return;
    }
    print(number, operation, timed(m_options.messages, [this, &work](size_t n) {
            std::unique_ptr<FIX::Message> message(new FIX::Message(m_encoded[n], *m_dictionary));
            use(static_cast<size_t>(work(*message)));
          }));
  }

  Line &begin(Line &line, long long number, const char *operation) const {
    return line.text("engine", "QuickFIX C++")
        .text("version", QUICKFIX_VERSION)
        .text("flags", FLAGS)
        .text("operation", operation)
        .number("run", number)
        .number("messages", m_options.messages);
  }

  void print(long long number, const char *operation, Time time) const {
    Line line;
    begin(line, number, operation).real("seconds", time.wall / 1e9).real("cpu_seconds", time.cpu / 1e9);
  }

  // Keeps the optimizer from omitting what produced the value.
  static void use(size_t value) { asm volatile("" : : "r"(value) : "memory"); }

  const Options &m_options;
  std::unique_ptr<FIX::DataDictionary> m_dictionary;
  std::vector<Nos222> m_ring;
  std::vector<std::string> m_encoded;
  std::string m_output;
  Nos222 m_read{0};
};

} // namespace

int codec(const Options &options) {
  Codec test(options);
  for (long long number = 1; number <= options.runs; number++)
    test.run(number);
  return 0;
}
