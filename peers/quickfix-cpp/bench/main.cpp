// quickfix-cpp-bench: the published tests of the field with QuickFIX C++. Figures
// are printed to standard output, one JSON object per line.
#include "codec.h"
#include "options.h"
#include "round_trip.h"

#include <csignal>
#include <iostream>

namespace {

const char usage[] =
    "usage: quickfix-cpp-bench fix8-codec [--messages 100000] [--runs 10] [--dictionary FIX44.xml]\n"
    "       quickfix-cpp-bench antenna --validate Y|N --samples FILE [--messages 10000] [--rate 1000]\n"
    "                          [--warm-up 2000] [--dictionary FIX42.xml] [--dir DIR] [--time-out 10]\n"
    "       quickfix-cpp-bench jlbh --samples FILE [--rate 2000] [--messages 10000] [--warm-up 20000]\n"
    "                          [--dictionary FIX42.xml] [--dir DIR] [--time-out 10]\n"
    "  --dictionary  a dictionary in QuickFIX's format\n"
    "  --rate        messages per second; message n is due n / rate seconds after the begin\n"
    "  --samples     where to write intended_ns,started_ns,ended_ns of each message\n"
    "  --dir         where stores and logs are kept during the run (TMPDIR, else /tmp)\n"
    "  --time-out    seconds without any answer after which the rest is lost\n"
    "Exit status: 0 measured; 1 an output was wrong; 2 wrong usage or I/O.\n";

} // namespace

int main(int argc, char **argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    Options options = Options::parse(argc, argv);
    return options.test == "fix8-codec" ? codec(options) : roundTrip(options);
  } catch (const BadUsage &error) {
    std::cerr << "quickfix-cpp-bench: " << error.what() << '\n' << usage;
  } catch (const WrongOutput &error) {
    std::cerr << "quickfix-cpp-bench: " << error.what() << '\n';
    return 1;
  } catch (const std::exception &error) {
    std::cerr << "quickfix-cpp-bench: " << error.what() << '\n';
  }
  return 2;
}
