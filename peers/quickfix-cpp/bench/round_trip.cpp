#include "round_trip.h"

#include "clock.h"
#include "events.h"
#include "samples.h"
#include "sessions.h"

#include <quickfix/FixValues.h>
#include <quickfix/Session.h>
#include <quickfix/fix42/ExecutionReport.h>
#include <quickfix/fix42/MessageCracker.h>
#include <quickfix/fix42/NewOrderSingle.h>

#include <cstdlib>

namespace {

// A side whose messages arrive in `onMessage` as their types.
class Typed : public Side, public FIX42::MessageCracker {
public:
  void fromApp(const FIX::Message &message, const FIX::SessionID &session) throw(
      FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue,
      FIX::UnsupportedMessageType) override {
    crack(message, session);
  }
};

// The order and the report of FIX Antenna's test. A report with another quantity is no answer.
class Antenna {
public:
  static constexpr const char *client = "INCA", *server = "TW";
  static constexpr bool logging = false;

  Antenna(Samples &samples, bool validating)
      : m_order(FIX::ClOrdID("0"),
                FIX::HandlInst('1'),
                FIX::Symbol("EU"), FIX::Side(FIX::Side_BUY), FIX::TransactTime(),
                FIX::OrdType(FIX::OrdType_LIMIT)),
        initiating(samples), accepting(validating) {}

  void send(long long number, long long, const FIX::SessionID &) {
    m_order.set(FIX::ClOrdID(std::to_string(number)));
    m_order.set(FIX::OrderQty(static_cast<double>(1 + number % 10)));
    m_order.set(FIX::TimeInForce(FIX::TimeInForce_DAY));
    m_order.set(FIX::Price(30));
    m_order.getHeader().setField(FIX::SenderCompID(client));
    m_order.getHeader().setField(FIX::TargetCompID(server));
    FIX::Session::sendToTarget(m_order);
  }

private:
  struct Initiating : Typed {
    explicit Initiating(Samples &samples) : m_samples(samples) {}
    void onMessage(const FIX42::ExecutionReport &report, const FIX::SessionID &) override {
      long long now = wallNanos();
      FIX::ClOrdID clOrdId;
      FIX::OrderQty quantity;
      report.get(clOrdId);
      report.get(quantity);
      long long number = std::atoll(clOrdId.getValue().c_str());
      if (quantity == static_cast<double>(1 + number % 10))
        m_samples.answered(number, now);
    }
    Samples &m_samples;
  };

  struct Accepting : Typed {
    // The published report lacks fields that FIX.4.2 requires: with validation, it has them.
    explicit Accepting(bool complete) {
      if (!complete)
        return;
      m_report.set(FIX::ExecTransType(FIX::ExecTransType_NEW));
      m_report.set(FIX::ExecType(FIX::ExecType_NEW));
      m_report.set(FIX::OrdStatus(FIX::OrdStatus_NEW));
      m_report.set(FIX::Symbol("EU"));
      m_report.set(FIX::Side(FIX::Side_BUY));
      m_report.set(FIX::CumQty(0));
      m_report.set(FIX::AvgPx(0));
    }
    void onMessage(const FIX42::NewOrderSingle &order, const FIX::SessionID &session) override {
      FIX::SenderCompID sender;
      FIX::TargetCompID target;
      FIX::ClOrdID clOrdId;
      FIX::Symbol symbol;
      FIX::Side side;
      FIX::OrdType type;
      FIX::Price price;
      FIX::OrderQty quantity;
      FIX::TimeInForce timeInForce(FIX::TimeInForce_DAY);
      order.getHeader().get(sender);
      order.getHeader().get(target);
      order.get(clOrdId);
      order.get(symbol);
      order.get(side);
      order.get(type);
      if (type == FIX::OrdType_LIMIT)
        order.get(price);
      order.get(quantity);
      order.getFieldIfSet(timeInForce);
      std::string id = std::to_string(m_id++);
      m_report.set(clOrdId);
      m_report.setField(price);
      m_report.set(quantity);
      m_report.setField(FIX::TransactTime());
      m_report.set(FIX::ExecID(id));
      m_report.set(FIX::OrderID(id));
      m_report.set(FIX::LeavesQty(quantity));
      FIX::Session::sendToTarget(m_report, session);
    }
    FIX42::ExecutionReport m_report;
    long long m_id = 0;
  };

  FIX42::NewOrderSingle m_order;

public:
  Initiating initiating;
  Accepting accepting;
};

// ExecID and OrderID of JLBH's report.
const char reportId[] = "tkacct.151124.e.EFX.122.6";

// The order and the report of JLBH's test. ClOrdID is when the order began.
class Jlbh {
public:
  static constexpr const char *client = "CLIENT", *server = "SERVER";
  static constexpr bool logging = true;

  Jlbh(Samples &samples, bool) : initiating(samples) {
    m_order.set(FIX::OrdType(FIX::OrdType_LIMIT));
    m_order.set(FIX::Side(FIX::Side_BUY));
    m_order.set(FIX::Symbol("LCOM1"));
    m_order.set(FIX::HandlInst('3'));
    m_order.set(FIX::TransactTime());
    m_order.set(FIX::OrderQty(1));
    m_order.set(FIX::Price(200.0));
    m_order.set(FIX::TimeInForce(FIX::TimeInForce_DAY));
    m_order.set(FIX::MaturityMonthYear("201106"));
    m_order.set(FIX::SecurityType(FIX::SecurityType_FUTURE));
    m_order.set(FIX::IDSource("5"));
    m_order.set(FIX::SecurityID("LCOM1"));
    m_order.set(FIX::Account("ABCTEST1"));
  }

  void send(long long, long long started, const FIX::SessionID &session) {
    m_order.set(FIX::ClOrdID(std::to_string(started)));
    FIX::Session::sendToTarget(m_order, session);
  }

private:
  struct Initiating : Typed {
    explicit Initiating(Samples &samples) : m_samples(samples) {}
    void onMessage(const FIX42::ExecutionReport &report, const FIX::SessionID &) override {
      FIX::ClOrdID clOrdId;
      report.get(clOrdId);
      long long started = std::atoll(clOrdId.getValue().c_str());
      long long now = wallNanos();
      FIX::ExecID execId;
      if (report.get(execId) == reportId)
        m_samples.answered(m_samples.begunAt(started), now);
    }
    Samples &m_samples;
  };

  struct Accepting : Typed {
    Accepting() {
      m_report.set(FIX::AvgPx(110.11));
      m_report.set(FIX::CumQty(7));
      m_report.set(FIX::ClientID("TEST"));
      m_report.set(FIX::ExecID(reportId));
      m_report.set(FIX::OrderID(reportId));
      m_report.set(FIX::Side(FIX::Side_BUY));
      m_report.set(FIX::Symbol("EFX"));
      m_report.set(FIX::ExecType(FIX::ExecType_FILL));
      m_report.set(FIX::ExecTransType(FIX::ExecTransType_NEW));
      m_report.set(FIX::OrdStatus(FIX::OrdStatus_NEW));
      m_report.set(FIX::LeavesQty(0));
    }
    void onMessage(const FIX42::NewOrderSingle &order, const FIX::SessionID &session) override {
      FIX::ClOrdID clOrdId;
      order.get(clOrdId);
      m_report.set(clOrdId);
      FIX::Session::sendToTarget(m_report, session);
    }
    FIX42::ExecutionReport m_report;
  };

  FIX42::NewOrderSingle m_order;

public:
  Initiating initiating;
  Accepting accepting;
};

template <class Test> int run(const Options &options) {
  Samples samples(options);
  Test test(samples, options.validate);
  {
    Sessions sessions(options, Test::client, Test::server, Test::logging, test.initiating,
                      test.accepting);
    samples.run([&](long long number, long long started) {
      test.send(number, started, sessions.initiator());
    });
  }
  samples.write(options.samples);
  Line()
      .text("engine", "QuickFIX C++")
      .text("version", QUICKFIX_VERSION)
      .text("flags", FLAGS)
      .text("test", options.test)
      .number("rate", options.rate)
      .number("messages", options.messages)
      .number("warm_up", options.warmUp)
      .number("lost", samples.lost())
      .flag("validation", options.validate)
      .text("dictionary", options.dictionary)
      .text("store", "file")
      .text("log", Test::logging ? "file" : "none")
      .text("threads", "sender, SocketInitiator, SocketAcceptor")
      .text("pacing", "sleep, the last 150 us polling the clock")
      .flag("nodelay", true);
  return 0;
}

} // namespace

int roundTrip(const Options &options) {
  return options.test == "antenna" ? run<Antenna>(options) : run<Jlbh>(options);
}
