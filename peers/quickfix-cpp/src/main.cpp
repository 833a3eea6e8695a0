// qf-peer: one QuickFIX session as a counterparty for tests. It reads commands
// from standard input, one per line, and prints events to standard output, one
// JSON object per line. Closing standard input stops it, as `stop` does.
#include "events.h"
#include "peer.h"

#include <quickfix/FileStore.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/SocketInitiator.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

namespace {

const char usage[] =
    "usage: qf-peer acceptor|initiator --port P --version FIX.4.2|FIX.4.4|FIXT.1.1\n"
    "               --sender S --target T --store DIR\n"
    "               [--dictionary FILE] [--heartbeat SECS] [--set KEY=VALUE]...\n"
    "KEY=VALUE is a setting of QuickFIX for the session.\n"
    "commands on standard input, one per line:\n"
    "  orders N PREFIX [RATE]   send NewOrderSingles PREFIX-1 to PREFIX-N, RATE per second\n"
    "  lost-orders N PREFIX     number and store orders without sending them\n"
    "  group-order CLORDID      send a NewOrderSingle with two parties (FIX.4.4)\n"
    "  big-order CLORDID BYTES  send a NewOrderSingle with a Text of BYTES bytes\n"
    "  report on|off            answer each order with a filled ExecutionReport (on)\n"
    "  testrequest ID           send a TestRequest\n"
    "  gap-out N                raise the next sender MsgSeqNum by N, sending nothing\n"
    "  gap-in N                 lower the expected target MsgSeqNum by N\n"
    "  numbers                  print both sequence numbers\n"
    "  tally                    print the counts of received messages\n"
    "  logout | logon           log out; log on again\n"
    "  reset-logon              log on again with ResetSeqNumFlag=Y (initiator)\n"
    "  stop                     log out, print the tally, end\n";

struct Options {
  std::string role, port, version, sender, target, store, dictionary, heartbeat = "30",
      settings, setting;
};

// Exit status 2 is bad usage or I/O.
[[noreturn]] void refuse(const std::string &why) {
  std::cerr << "qf-peer: " << why << '\n';
  std::exit(2);
}

Options parse(int argc, char **argv) {
  Options options;
  if (argc < 2 || (options.role = argv[1], options.role != "acceptor" && options.role != "initiator"))
    refuse(std::string("the role must be acceptor or initiator\n") + usage);
  for (int i = 2; i < argc; i += 2) {
    std::string key = argv[i];
    std::string *value = key == "--port"         ? &options.port
                         : key == "--version"    ? &options.version
                         : key == "--sender"     ? &options.sender
                         : key == "--target"     ? &options.target
                         : key == "--store"      ? &options.store
                         : key == "--dictionary" ? &options.dictionary
                         : key == "--heartbeat"  ? &options.heartbeat
                         : key == "--set"        ? &options.setting
                                                 : nullptr;
    if (!value || i + 1 == argc)
      refuse(key + (value ? " needs a value\n" : " is not an option\n") + usage);
    *value = argv[i + 1];
    if (key == "--set")
      options.settings += options.setting + '\n';
  }
  if (options.version != "FIX.4.2" && options.version != "FIX.4.4" && options.version != "FIXT.1.1")
    refuse("--version is FIX.4.2, FIX.4.4 or FIXT.1.1");
  if (options.port.empty() || options.sender.empty() || options.target.empty() ||
      options.store.empty())
    refuse("--port, --sender, --target and --store are needed");
  return options;
}

std::string settingsOf(const Options &options) {
  std::ostringstream text;
  bool initiator = options.role == "initiator";
  text << "[DEFAULT]\nConnectionType=" << options.role
       << "\nFileStorePath=" << options.store
       // A week-long session: a daily one would reset if a run crosses midnight.
       << "\nStartDay=Sunday\nStartTime=00:00:00\nEndDay=Saturday\nEndTime=23:59:59"
       << "\nReconnectInterval=1\nLogonTimeout=5\nLogoutTimeout=5\nSocketNodelay=Y\n";
  if (initiator)
    text << "SocketConnectHost=127.0.0.1\nSocketConnectPort=" << options.port
         << "\nHeartBtInt=" << options.heartbeat << '\n';
  else
    text << "SocketAcceptPort=" << options.port << "\nSocketReuseAddress=Y\n";
  if (options.dictionary.empty())
    text << "UseDataDictionary=N\n";
  else
    text << "UseDataDictionary=Y\nDataDictionary=" << options.dictionary << '\n';
  text << "[SESSION]\nBeginString=" << options.version << "\nSenderCompID=" << options.sender
       << "\nTargetCompID=" << options.target << '\n';
  if (options.version == "FIXT.1.1")
    text << "DefaultApplVerID=FIX.5.0SP2\n";
  text << options.settings;
  return text.str();
}

// Executes one command line; returns false if it is `stop`.
bool obey(const std::string &line, Peer &peer, const Options &options, Tally &tally,
          std::vector<std::thread> &senders) {
  std::istringstream words(line);
  std::string command, text;
  long long number = 0;
  words >> command;
  FIX::Session &session = peer.session();
  if (command == "stop")
    return false;
  if (command == "orders" && words >> number >> text) {
    long long rate = 0;
    words >> rate;
    senders.emplace_back([&peer, number, text, rate] { peer.sendOrders(number, text, rate); });
  } else if (command == "lost-orders" && words >> number >> text) {
    peer.loseOrders(number, text);
  } else if (command == "group-order" && words >> text) {
    peer.sendGroupOrder(text);
  } else if (command == "big-order" && words >> text >> number) {
    peer.sendBigOrder(text, number);
  } else if (command == "report" && words >> text && (text == "on" || text == "off")) {
    peer.answerOrders(text == "on");
  } else if (command == "testrequest" && words >> text) {
    peer.sendTestRequest(text);
  } else if (command == "gap-out" && words >> number) {
    session.setNextSenderMsgSeqNum(session.getExpectedSenderNum() + static_cast<int>(number));
  } else if (command == "gap-in" && words >> number && number < session.getExpectedTargetNum()) {
    session.setNextTargetMsgSeqNum(session.getExpectedTargetNum() - static_cast<int>(number));
  } else if (command == "numbers") {
    peer.reportNumbers();
  } else if (command == "tally") {
    tally.report();
  } else if (command == "logout") {
    session.logout();
  } else if (command == "logon") {
    session.setResetOnLogon(false);
    session.logon();
  } else if (command == "reset-logon" && options.role == "initiator") {
    session.setResetOnLogon(true);
    session.logon();
  } else {
    Event("refused").text("command", line);
    return true;
  }
  Event("done").text("command", line);
  return true;
}

template <class Engine> void run(const Options &options) {
  std::istringstream text(settingsOf(options));
  FIX::SessionSettings settings(text);
  FIX::FileStoreFactory stores(settings);
  Tally tally;
  WireLogFactory logs(tally);
  Peer peer(*settings.getSessions().begin(), tally, !options.dictionary.empty());
  Engine engine(peer, stores, settings, logs);
  engine.start();
  Event("ready").text("role", options.role).text("version", options.version);
  std::vector<std::thread> senders;
  std::string line;
  while (std::getline(std::cin, line) && obey(line, peer, options, tally, senders)) {
  }
  for (std::thread &sender : senders)
    sender.join();
  engine.stop();
  peer.reportNumbers();
  tally.report();
  Event("stopped");
}

} // namespace

int main(int argc, char **argv) {
  Options options = parse(argc, argv);
  // A counterparty that is killed must not take this process with it.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    if (options.role == "acceptor")
      run<FIX::SocketAcceptor>(options);
    else
      run<FIX::SocketInitiator>(options);
  } catch (const std::exception &error) {
    refuse(error.what());
  }
}
