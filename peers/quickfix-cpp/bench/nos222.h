// NOS-222: the NewOrderSingle of FIX.4.4, 222 bytes and 24 fields, with which Fix8
// and QuickFIX were compared in 2013; a ring of messages that differ.
#ifndef QF_BENCH_NOS222_H
#define QF_BENCH_NOS222_H

#include <quickfix/Message.h>

#include <string>

// The values that differ from member to member.
struct Nos222 {
  static constexpr int ring = 64;

  explicit Nos222(int n);

  // The message by the definition, with the fields in the published order.
  std::string text() const;
  // The object that an application would build.
  FIX::Message build() const;

  bool operator==(const Nos222 &other) const;

  int seq;
  std::string account, clOrdId, symbol;
  double quantity, price;
  char side;
  FIX::UtcTimeStamp sendingTime, transactTime;
};

// Reads every field as its type, the strings as references. Those that differ are
// stored in `into`; returns a number made of the others.
long long readTyped(const FIX::Message &message, Nos222 &into);

// What readTyped returns for each member of the ring.
long long constantsOfNos222();

#endif
