#include "peer.h"

#include "events.h"

#include <quickfix/FixFields.h>
#include <quickfix/FixValues.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace {

// Unique across restarts of the process, as an ExecID must be.
const std::string processTag = std::to_string(::getpid()) + '.' + std::to_string(::time(nullptr));

class WireLog : public FIX::Log {
public:
  explicit WireLog(Tally *tally) : m_tally(tally) {}
  void clear() override {}
  void backup() override {}
  void onIncoming(const std::string &raw) override {
    if (m_tally)
      m_tally->received(raw);
    note("in", raw);
  }
  void onOutgoing(const std::string &raw) override { note("out", raw); }
  void onEvent(const std::string &text) override { Event("note").text("text", text); }

private:
  // Prints session messages with their whole text, application messages in short.
  static void note(const char *direction, const std::string &raw) {
    std::string type = fieldOf(raw, 35);
    bool admin = type.size() == 1 && std::strchr("0A12345", type[0]);
    Event event(direction);
    event.text("msg_type", type)
        .flag("admin", admin)
        .number("seq", std::atoll(fieldOf(raw, 34).c_str()))
        .flag("poss_dup", fieldOf(raw, 43) == "Y");
    if (admin)
      event.text("raw", raw);
    else
      event.text("cl_ord_id", fieldOf(raw, 11)).text("exec_id", fieldOf(raw, 17));
  }

  Tally *m_tally;
};

std::string valueOf(const FIX::FieldMap &fields, int tag) {
  return fields.isSetField(tag) ? fields.getField(tag) : "";
}

FIX::Group partyGroup() {
  static const int order[] = {448, 447, 452, 0};
  return FIX::Group(453, 448, order);
}

// Returns "id/source/role" of every party, separated by commas.
std::string partiesOf(const FIX::Message &message) {
  std::string all;
  FIX::Group party = partyGroup();
  for (unsigned entry = 1; message.FIX::FieldMap::hasGroup(entry, 453); entry++) {
    message.getGroup(entry, party);
    all += (entry > 1 ? "," : "") + valueOf(party, 448) + '/' + valueOf(party, 447) + '/' +
           valueOf(party, 452);
  }
  return all;
}

void addParty(FIX::Message &message, const char *id, const char *role) {
  FIX::Group party = partyGroup();
  party.setField(448, id);
  party.setField(447, "D");
  party.setField(452, role);
  message.addGroup(party);
}

} // namespace

FIX::Session &Peer::session() const {
  FIX::Session *found = FIX::Session::lookupSession(m_session);
  if (!found)
    throw std::runtime_error("QuickFIX knows no session " + m_session.toString());
  return *found;
}

FIX::Message Peer::order(const std::string &clOrdId, long long quantity) const {
  FIX::Message order;
  order.getHeader().setField(FIX::MsgType("D"));
  order.setField(FIX::ClOrdID(clOrdId));
  if (isFix42())
    order.setField(FIX::HandlInst('1'));
  order.setField(FIX::Symbol("FXBT"));
  order.setField(FIX::Side(FIX::Side_BUY));
  order.setField(FIX::TransactTime());
  order.setField(FIX::OrdType(FIX::OrdType_LIMIT));
  order.setField(FIX::FIELD::OrderQty, std::to_string(quantity));
  order.setField(FIX::FIELD::Price, "57.00");
  return order;
}

void Peer::sendOrders(long long count, const std::string &prefix, long long rate) {
  auto start = std::chrono::steady_clock::now();
  for (long long i = 1; i <= count; i++) {
    FIX::Message message = order(prefix + '-' + std::to_string(i), 1 + i % 1000);
    FIX::Session::sendToTarget(message, m_session);
    if (rate > 0)
      std::this_thread::sleep_until(start + std::chrono::nanoseconds(1000000000LL * i / rate));
  }
  Event("orders-sent").text("prefix", prefix).number("count", count);
}

void Peer::loseOrders(long long count, const std::string &prefix) {
  FIX::Session &session = this->session();
  // Session is the store's only owner and exposes it read-only. Writing to the
  // store without it has the effect of a message that was lost on the wire.
  FIX::MessageStore *store = const_cast<FIX::MessageStore *>(session.getStore());
  for (long long i = 1; i <= count; i++) {
    int seqNum = session.getExpectedSenderNum();
    FIX::Message message = order(prefix + '-' + std::to_string(i), 1 + i % 1000);
    FIX::Header &header = message.getHeader();
    header.setField(m_session.getBeginString());
    header.setField(m_session.getSenderCompID());
    header.setField(m_session.getTargetCompID());
    header.setField(FIX::MsgSeqNum(seqNum));
    header.setField(FIX::SendingTime(FIX::UtcTimeStamp(), 3));
    store->set(seqNum, message.toString());
    session.setNextSenderMsgSeqNum(seqNum + 1);
  }
  Event("orders-lost").text("prefix", prefix).number("count", count);
}

void Peer::sendGroupOrder(const std::string &clOrdId) {
  FIX::Message message = order(clOrdId, 100);
  addParty(message, "DEUTDEFF", "1");
  addParty(message, "TRADER7", "11");
  FIX::Session::sendToTarget(message, m_session);
}

void Peer::sendBigOrder(const std::string &clOrdId, long long bytes) {
  FIX::Message message = order(clOrdId, 100);
  message.setField(FIX::Text(std::string(static_cast<size_t>(bytes), 'x')));
  FIX::Session::sendToTarget(message, m_session);
}

void Peer::sendTestRequest(const std::string &id) {
  FIX::Message message;
  message.getHeader().setField(FIX::MsgType(FIX::MsgType_TestRequest));
  message.setField(FIX::TestReqID(id));
  FIX::Session::sendToTarget(message, m_session);
}

void Peer::reportNumbers() {
  FIX::Session &session = this->session();
  Event("numbers")
      .number("next_out", session.getExpectedSenderNum())
      .number("next_in", session.getExpectedTargetNum())
      .flag("logged_on", session.isLoggedOn());
}

void Peer::onLogon(const FIX::SessionID &) {
  FIX::Session &session = this->session();
  session.setResetOnLogon(false); // `reset-logon` asks for one reset, not for one at each reconnect
  Event("logon")
      .number("next_out", session.getExpectedSenderNum())
      .number("next_in", session.getExpectedTargetNum());
}

void Peer::onLogout(const FIX::SessionID &) {
  FIX::Session &session = this->session();
  Event("logout")
      .number("next_out", session.getExpectedSenderNum())
      .number("next_in", session.getExpectedTargetNum());
}

void Peer::fromApp(const FIX::Message &message, const FIX::SessionID &) throw(
    FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue,
    FIX::UnsupportedMessageType) {
  const FIX::Header &header = message.getHeader();
  std::string type = valueOf(header, 35);
  std::string clOrdId = valueOf(message, 11);
  m_tally.delivered(type, clOrdId);
  {
    Event event("delivered");
    event.text("msg_type", type)
        .text("cl_ord_id", clOrdId)
        .number("seq", std::atoll(valueOf(header, 34).c_str()))
        .flag("poss_dup", valueOf(header, 43) == "Y")
        .number("text_bytes", static_cast<long long>(valueOf(message, 58).size()));
    if (type == "8")
      event.text("exec_id", valueOf(message, 17)).text("ord_status", valueOf(message, 39));
    if (m_hasDictionary && message.FIX::FieldMap::hasGroup(453))
      event.text("parties", partiesOf(message));
  }
  if (type == "D" && m_answering)
    answer(message);
  else if (type != "D" && type != "8" && type != "j")
    throw FIX::UnsupportedMessageType();
}

void Peer::answer(const FIX::Message &order) {
  std::string id = processTag + '.' + std::to_string(++m_executions);
  FIX::Message report;
  report.getHeader().setField(FIX::MsgType("8"));
  report.setField(FIX::OrderID("O" + id));
  report.setField(FIX::ExecID("E" + id));
  if (isFix42())
    report.setField(FIX::ExecTransType(FIX::ExecTransType_NEW));
  report.setField(FIX::ExecType(isFix42() ? FIX::ExecType_FILL : FIX::ExecType_TRADE));
  report.setField(FIX::OrdStatus(FIX::OrdStatus_FILLED));
  for (int tag : {11, 38, 44, 54, 55, 58}) // as the order has them
    if (order.isSetField(tag))
      report.setField(tag, order.getField(tag));
  report.setField(FIX::FIELD::LastQty, valueOf(order, 38));
  report.setField(FIX::FIELD::LastPx, valueOf(order, 44));
  report.setField(FIX::FIELD::LeavesQty, "0");
  report.setField(FIX::FIELD::CumQty, valueOf(order, 38));
  report.setField(FIX::FIELD::AvgPx, valueOf(order, 44));
  if (m_hasDictionary) {
    FIX::Group party = partyGroup();
    for (unsigned entry = 1; order.FIX::FieldMap::hasGroup(entry, 453); entry++)
      report.addGroup(order.getGroup(entry, party));
  }
  FIX::Session::sendToTarget(report, m_session);
}

FIX::Log *WireLogFactory::create() { return new WireLog(nullptr); }
FIX::Log *WireLogFactory::create(const FIX::SessionID &) { return new WireLog(&m_tally); }
void WireLogFactory::destroy(FIX::Log *log) { delete log; }
