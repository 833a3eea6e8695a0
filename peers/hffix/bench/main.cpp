// hffix-bench: the rows of `fixbolt bench codec` that hffix can do. Figures are
// printed to standard output, one JSON object per line.
#include "messages.h"
#include "reading.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace {

const char usage[] = "usage: hffix-bench codec [--batches 11] [--rounds 100]\n"
                     "  --batches  of each operation; the operations take turns\n"
                     "  --rounds   of the 64 messages in each batch\n"
                     "Exit status: 0 measured; 1 an output was wrong; 2 wrong usage.\n";

long long nanosOf(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// An operation on member n of a ring, and what its batches took, in ns a message.
struct Operation {
  const char *message, *name;
  std::function<void(int rounds)> run;
  std::vector<double> cpu, wall;
};

[[noreturn]] void wrong(const char *message, const char *operation, int n) {
  std::fprintf(stderr, "hffix-bench: %s %s: message %d of the ring has a wrong result\n", message, operation, n);
  std::exit(1);
}

// Returns a message that hffix wrote as the definition has it: hffix's BodyLength has
// six digits, with zeros in front.
std::string normal(const std::string &written) {
  const std::size_t length = written.find("\0019=") + 3, end = written.find('\001', length);
  const std::size_t sum = written.size() - 7;
  const std::string digits = std::to_string(std::atoi(written.substr(length, end - length).c_str()));
  std::string message = written.substr(0, length) + digits + written.substr(end, sum - end);
  unsigned all = 0, theirs = 0;
  for (const char byte : message)
    all += static_cast<unsigned char>(byte);
  for (std::size_t at = 0; at < sum; ++at)
    theirs += static_cast<unsigned char>(written[at]);
  char trailer[2][8];
  std::snprintf(trailer[0], sizeof trailer[0], "10=%03u\001", all % 256);
  std::snprintf(trailer[1], sizeof trailer[1], "10=%03u\001", theirs % 256);
  return written.compare(sum, 7, trailer[1]) == 0 ? message + trailer[0] : "a wrong CheckSum";
}

// Adds the operations that every message has.
template <class Message>
void common(std::vector<Operation> &operations, const char *name, const std::vector<Message> &values,
            const std::vector<std::string> &texts, int fields) {
  static char buffer[1024];
  for (int n = 0; n < ring; n++) {
    const std::string &text = texts[static_cast<std::size_t>(n)];
    const hffix::message_reader reader(text.data(), text.size());
    // CheckSum is one of the fields that are not visited.
    if (!isRight(reader) || visit(reader) != fields - 3)
      wrong(name, "index", n);
    for (const std::size_t at : {text.size() - 9, text.size() - 2}) {
      std::string broken = text;
      broken[at] = broken[at] == '0' ? '1' : '0';
      if (isRight(hffix::message_reader(broken.data(), broken.size())))
        wrong(name, "index", n);
    }
    const std::size_t size = values[static_cast<std::size_t>(n)].write(buffer, sizeof buffer);
    if (normal(std::string(buffer, size)) != text)
      wrong(name, "encode", n);
  }
  const auto reading = [&texts](auto work) {
    return [&texts, work](int rounds) {
      for (int round = 0; round < rounds; round++)
        for (const std::string &text : texts) {
          const hffix::message_reader reader(text.data(), text.size());
          work(reader);
        }
    };
  };
  operations.push_back({name, "index", reading([](const hffix::message_reader &reader) {
                          if (isRight(reader))
                            use(visit(reader));
                        }),
                        {}, {}});
  operations.push_back({name, "index-unsummed", reading([](const hffix::message_reader &reader) {
                          if (reader.is_complete() && reader.is_valid())
                            use(visit(reader));
                        }),
                        {}, {}});
  operations.push_back({name, "encode", [&values](int rounds) {
                          for (int round = 0; round < rounds; round++)
                            for (const Message &value : values)
                              use(value.write(buffer, sizeof buffer));
                        },
                        {}, {}});
}

void typedSix(std::vector<Operation> &operations, const std::vector<Nos222> &values,
              const std::vector<std::string> &texts) {
  for (int n = 0; n < ring; n++) {
    const Nos222 &value = values[static_cast<std::size_t>(n)];
    const std::string &text = texts[static_cast<std::size_t>(n)];
    Six six;
    if (!readSix(hffix::message_reader(text.data(), text.size()), six) ||
        std::string(six.clOrdId, six.clOrdIdEnd) != value.clOrdId ||
        std::string(six.symbol, six.symbolEnd) != value.symbol || six.side != value.side ||
        six.quantity != value.quantity || six.quantityExponent != 0 || six.price != value.tenths ||
        six.priceExponent != -1 || !(six.transactTime == value.transactTime))
      wrong("NOS-222", "typed-six-unplaced", n);
  }
  operations.push_back({"NOS-222", "typed-six-unplaced", [&texts](int rounds) {
                          for (int round = 0; round < rounds; round++)
                            for (const std::string &text : texts) {
                              const hffix::message_reader reader(text.data(), text.size());
                              Six six;
                              if (isRight(reader) && readSix(reader, six))
                                use(&six);
                            }
                        },
                        {}, {}});
}

template <class Message> std::vector<Message> valuesOf() {
  std::vector<Message> values;
  for (int n = 0; n < ring; n++)
    values.emplace_back(n);
  return values;
}

template <class Message> std::vector<std::string> textsOf(const std::vector<Message> &values) {
  std::vector<std::string> texts;
  for (const Message &value : values)
    texts.push_back(value.text());
  return texts;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void measure(std::vector<Operation> &operations, int batches, int rounds) {
  const double messages = static_cast<double>(rounds) * ring;
  for (int batch = 0; batch < batches; batch++)
    for (Operation &operation : operations) {
      const long long cpu = nanosOf(CLOCK_THREAD_CPUTIME_ID), wall = nanosOf(CLOCK_MONOTONIC);
      operation.run(rounds);
      operation.wall.push_back(static_cast<double>(nanosOf(CLOCK_MONOTONIC) - wall) / messages);
      operation.cpu.push_back(static_cast<double>(nanosOf(CLOCK_THREAD_CPUTIME_ID) - cpu) / messages);
    }
  for (const Operation &operation : operations) {
    const auto [least, most] = std::minmax_element(operation.cpu.begin(), operation.cpu.end());
    std::printf("{\"engine\":\"hffix\",\"version\":\"%s\",\"flags\":\"%s\",\"message\":\"%s\",\"operation\":\"%s\","
                "\"ns\":%.3f,\"ns_min\":%.3f,\"ns_max\":%.3f,\"wall_ns\":%.3f,\"batches\":%d,\"messages\":%d}\n",
                HFFIX_VERSION, FLAGS, operation.message, operation.name, median(operation.cpu), *least, *most,
                median(operation.wall), batches, rounds * ring);
  }
}

// Returns the number, which must be from 1 to a million.
int numberOf(const char *option, const char *value) {
  char *end = nullptr;
  const long number = value ? std::strtol(value, &end, 10) : 0;
  if (!value || *value == 0 || *end || number < 1 || number > 1000000) {
    std::fprintf(stderr, "hffix-bench: %s must be a number from 1 to 1000000\n%s", option, usage);
    std::exit(2);
  }
  return static_cast<int>(number);
}

} // namespace

int main(int argc, char **argv) {
  int batches = 11, rounds = 100;
  bool isUsage = argc < 2 || std::strcmp(argv[1], "codec") != 0;
  for (int i = 2; i < argc && !isUsage; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (std::strcmp(argv[i], "--batches") == 0)
      batches = numberOf(argv[i], value);
    else if (std::strcmp(argv[i], "--rounds") == 0)
      rounds = numberOf(argv[i], value);
    else
      isUsage = true;
  }
  if (isUsage) {
    std::fputs(usage, stderr);
    return 2;
  }
  const std::vector<Nos222> orders = valuesOf<Nos222>();
  const std::vector<Aim97> shorts = valuesOf<Aim97>();
  const std::vector<std::string> orderTexts = textsOf(orders), shortTexts = textsOf(shorts);
  std::vector<Operation> operations;
  common(operations, "NOS-222", orders, orderTexts, 24);
  typedSix(operations, orders, orderTexts);
  common(operations, "AIM-97", shorts, shortTexts, 10);
  measure(operations, batches, rounds);
}
