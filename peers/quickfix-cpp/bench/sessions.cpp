#include "sessions.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace {

int removeOne(const char *path, const struct stat *, int, struct FTW *) { return ::remove(path); }

// QuickFIX must be told a port, so one is asked for and given back.
int freePort() {
  int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof address;
  sockaddr *generic = reinterpret_cast<sockaddr *>(&address);
  bool found = socket >= 0 && ::bind(socket, generic, length) == 0 &&
               ::getsockname(socket, generic, &length) == 0;
  if (socket >= 0)
    ::close(socket);
  if (!found)
    throw std::runtime_error(std::string("no port to listen on: ") + std::strerror(errno));
  return ntohs(address.sin_port);
}

FIX::SessionSettings settingsOf(const Options &options, bool initiating, int port,
                                const std::string &sender, const std::string &target,
                                const std::string &folder) {
  std::stringstream text;
  text << "[DEFAULT]\nConnectionType=" << (initiating ? "initiator" : "acceptor")
       << "\nFileStorePath=" << folder << "/store\nFileLogPath=" << folder << "/log"
       // A week-long session: a daily one would reset if a run crosses midnight.
       << "\nStartDay=Sunday\nStartTime=00:00:00\nEndDay=Saturday\nEndTime=23:59:59"
       << "\nReconnectInterval=1\nHeartBtInt=30\nSocketNodelay=Y\n";
  if (initiating)
    text << "SocketConnectHost=127.0.0.1\nSocketConnectPort=" << port << "\nResetOnLogon=Y\n";
  else
    text << "SocketAcceptPort=" << port << "\nSocketReuseAddress=Y\n";
  if (options.validate)
    text << "UseDataDictionary=Y\nDataDictionary=" << options.dictionary << '\n';
  else
    text << "UseDataDictionary=N\n";
  text << "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=" << sender << "\nTargetCompID=" << target
       << '\n';
  return FIX::SessionSettings(text);
}

} // namespace

Folder::Folder(const std::string &parent) {
  const char *temporary = std::getenv("TMPDIR");
  m_path = (!parent.empty() ? parent : temporary && *temporary ? temporary : "/tmp") +
           "/quickfix-cpp-bench-XXXXXX";
  if (!::mkdtemp(&m_path[0]))
    throw std::runtime_error("cannot create " + m_path + ": " + std::strerror(errno));
}

Folder::~Folder() { ::nftw(m_path.c_str(), removeOne, 16, FTW_DEPTH | FTW_PHYS); }

Sessions::Sessions(const Options &options, const char *client, const char *server, bool logging,
                   Side &initiating, Side &accepting)
    : m_folder(options.directory), m_initiatorId("FIX.4.2", client, server) {
  int port = freePort();
  m_acceptorSettings = settingsOf(options, false, port, server, client, m_folder.path());
  m_initiatorSettings = settingsOf(options, true, port, client, server, m_folder.path());
  m_acceptorStores = std::make_unique<FIX::FileStoreFactory>(m_acceptorSettings);
  m_initiatorStores = std::make_unique<FIX::FileStoreFactory>(m_initiatorSettings);
  if (logging) {
    m_acceptorLogs = std::make_unique<FIX::FileLogFactory>(m_acceptorSettings);
    m_initiatorLogs = std::make_unique<FIX::FileLogFactory>(m_initiatorSettings);
    m_acceptor = std::make_unique<FIX::SocketAcceptor>(accepting, *m_acceptorStores,
                                                       m_acceptorSettings, *m_acceptorLogs);
    m_initiator = std::make_unique<FIX::SocketInitiator>(initiating, *m_initiatorStores,
                                                         m_initiatorSettings, *m_initiatorLogs);
  } else {
    m_acceptor =
        std::make_unique<FIX::SocketAcceptor>(accepting, *m_acceptorStores, m_acceptorSettings);
    m_initiator =
        std::make_unique<FIX::SocketInitiator>(initiating, *m_initiatorStores, m_initiatorSettings);
  }
  m_acceptor->start();
  m_initiator->start();
  for (int tries = 0; tries < 1000; tries++, ::usleep(10000))
    if (initiating.isLoggedOn() && accepting.isLoggedOn())
      return;
  throw std::runtime_error("the sessions have not logged on within 10 s");
}

Sessions::~Sessions() {
  m_initiator->stop();
  m_acceptor->stop();
}
