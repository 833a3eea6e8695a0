// The application of the QuickFIX session, and the log that makes its wire
// traffic visible. It executes commands and answers orders. It does not decide
// whether a run has passed: the harness does, from the events.
#ifndef QF_PEER_PEER_H
#define QF_PEER_PEER_H

#include "tally.h"

#include <quickfix/Application.h>
#include <quickfix/Log.h>
#include <quickfix/Session.h>

#include <atomic>
#include <string>

class Peer : public FIX::Application {
public:
  Peer(const FIX::SessionID &session, Tally &tally, bool hasDictionary)
      : m_session(session), m_tally(tally), m_hasDictionary(hasDictionary) {}

  // Whether each NewOrderSingle gets a filled ExecutionReport.
  void answerOrders(bool yes) { m_answering = yes; }
  // Sends NewOrderSingles PREFIX-1 to PREFIX-COUNT; at most `rate` per second, 0 for no limit.
  void sendOrders(long long count, const std::string &prefix, long long rate);
  // Numbers and stores orders as if they had been sent, but does not send
  // them: the counterparty must request them.
  void loseOrders(long long count, const std::string &prefix);
  // Sends a NewOrderSingle with two parties (FIX.4.4).
  void sendGroupOrder(const std::string &clOrdId);
  // Sends a NewOrderSingle with a Text of this many bytes.
  void sendBigOrder(const std::string &clOrdId, long long bytes);
  void sendTestRequest(const std::string &id);
  void reportNumbers();

  void onCreate(const FIX::SessionID &) override {}
  void onLogon(const FIX::SessionID &) override;
  void onLogout(const FIX::SessionID &) override;
  void toAdmin(FIX::Message &, const FIX::SessionID &) override {}
  void toApp(FIX::Message &, const FIX::SessionID &) throw(FIX::DoNotSend) override {}
  void fromAdmin(const FIX::Message &, const FIX::SessionID &) throw(
      FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue,
      FIX::RejectLogon) override {}
  void fromApp(const FIX::Message &, const FIX::SessionID &) throw(
      FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue,
      FIX::UnsupportedMessageType) override;

  // Throws std::runtime_error if the session does not exist any more.
  FIX::Session &session() const;

private:
  bool isFix42() const { return m_session.getBeginString().getValue() == "FIX.4.2"; }
  FIX::Message order(const std::string &clOrdId, long long quantity) const;
  void answer(const FIX::Message &order);

  FIX::SessionID m_session;
  Tally &m_tally;
  bool m_hasDictionary;
  std::atomic<bool> m_answering{true};
  std::atomic<long long> m_executions{0};
};

class WireLogFactory : public FIX::LogFactory {
public:
  explicit WireLogFactory(Tally &tally) : m_tally(tally) {}
  FIX::Log *create() override;
  FIX::Log *create(const FIX::SessionID &) override;
  void destroy(FIX::Log *) override;

private:
  Tally &m_tally;
};

#endif
