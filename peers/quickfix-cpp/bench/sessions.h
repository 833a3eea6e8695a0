// An acceptor and an initiator of FIX.4.2 in this process, connected over loopback.
#ifndef QF_BENCH_SESSIONS_H
#define QF_BENCH_SESSIONS_H

#include "options.h"

#include <quickfix/Application.h>
#include <quickfix/FileLog.h>
#include <quickfix/FileStore.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/SocketInitiator.h>

#include <atomic>
#include <memory>
#include <string>

// What both sides share: whether they are logged on.
class Side : public FIX::Application {
public:
  bool isLoggedOn() const { return m_isLoggedOn; }

  void onCreate(const FIX::SessionID &) override {}
  void onLogon(const FIX::SessionID &) override { m_isLoggedOn = true; }
  void onLogout(const FIX::SessionID &) override { m_isLoggedOn = false; }
  void toAdmin(FIX::Message &, const FIX::SessionID &) override {}
  void toApp(FIX::Message &, const FIX::SessionID &) throw(FIX::DoNotSend) override {}
  void fromAdmin(const FIX::Message &, const FIX::SessionID &) throw(
      FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue,
      FIX::RejectLogon) override {}

private:
  std::atomic<bool> m_isLoggedOn{false};
};

// A folder that is removed with what is in it.
class Folder {
public:
  // Creates it in `parent`; if that is empty, in TMPDIR, else in /tmp.
  explicit Folder(const std::string &parent);
  ~Folder();
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  const std::string &path() const { return m_path; }

private:
  std::string m_path;
};

class Sessions {
public:
  // Connects and waits for the logon, with ResetSeqNumFlag=Y. Each side has a file
  // store, and a file log if `logging`.
  Sessions(const Options &options, const char *client, const char *server, bool logging,
           Side &initiating, Side &accepting);
  ~Sessions();

  // The initiator's session.
  const FIX::SessionID &initiator() const { return m_initiatorId; }

private:
  Folder m_folder;
  FIX::SessionSettings m_acceptorSettings, m_initiatorSettings;
  FIX::SessionID m_initiatorId;
  std::unique_ptr<FIX::FileStoreFactory> m_acceptorStores, m_initiatorStores;
  std::unique_ptr<FIX::FileLogFactory> m_acceptorLogs, m_initiatorLogs;
  std::unique_ptr<FIX::SocketAcceptor> m_acceptor;
  std::unique_ptr<FIX::SocketInitiator> m_initiator;
};

#endif
