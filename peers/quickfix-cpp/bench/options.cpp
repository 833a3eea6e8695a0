#include "options.h"

#include <cstdlib>
#include <map>

namespace {

// Returns the number, which must be from `least` to a thousand million.
long long numberOf(const std::string &option, const std::string &value, long long least) {
  char *end = nullptr;
  long long number = std::strtoll(value.c_str(), &end, 10);
  if (value.empty() || *end || number < least || number > 1000000000)
    throw BadUsage(option + " must be a number from " + std::to_string(least) +
                   " to 1000000000, not " + value);
  return number;
}

} // namespace

Options Options::parse(int argc, char **argv) {
  static const std::map<std::string, std::string> accepted = {
      {"fix8-codec", " --messages --runs --dictionary "},
      {"antenna", " --messages --rate --warm-up --time-out --validate --dictionary --samples --dir "},
      {"jlbh", " --messages --rate --warm-up --time-out --dictionary --samples --dir "}};
  Options options;
  options.test = argc > 1 ? argv[1] : "";
  auto test = accepted.find(options.test);
  if (test == accepted.end())
    throw BadUsage("the test must be fix8-codec, antenna or jlbh");
  bool isCodec = options.test == "fix8-codec", isAntenna = options.test == "antenna";
  options.messages = isCodec ? 100000 : 10000;
  options.rate = isAntenna ? 1000 : 2000;
  options.warmUp = isAntenna ? 2000 : 20000;
  std::string validate;
  for (int i = 2; i < argc; i += 2) {
    std::string key = argv[i];
    if (test->second.find(' ' + key + ' ') == std::string::npos)
      throw BadUsage(key + " is not an option of " + options.test);
    if (i + 1 == argc)
      throw BadUsage(key + " needs a value");
    std::string value = argv[i + 1];
    if (key == "--messages")
      options.messages = numberOf(key, value, 1);
    else if (key == "--runs")
      options.runs = numberOf(key, value, 1);
    else if (key == "--rate")
      options.rate = numberOf(key, value, 1);
    else if (key == "--warm-up")
      options.warmUp = numberOf(key, value, 0);
    else if (key == "--time-out")
      options.timeOut = numberOf(key, value, 1);
    else if (key == "--validate")
      validate = value;
    else
      (key == "--dictionary" ? options.dictionary
       : key == "--samples"  ? options.samples
                             : options.directory) = value;
  }
  if (!isCodec && options.samples.empty())
    throw BadUsage("--samples FILE is missing");
  if (isAntenna && validate != "Y" && validate != "N")
    throw BadUsage("--validate must be Y or N");
  options.validate = isAntenna ? validate == "Y" : !options.dictionary.empty();
  if (options.validate && options.dictionary.empty())
    throw BadUsage("--validate Y needs --dictionary FILE, a FIX42.xml of QuickFIX");
  return options;
}
