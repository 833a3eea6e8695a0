#include "nos222.h"

#include <quickfix/FieldConvertors.h>
#include <quickfix/FixFields.h>
#include <quickfix/FixValues.h>

#include <cstdio>

namespace {

const time_t morning = 1795251600; // 2026-11-21 09:00:00 UTC
int millisOf(int n) { return n * 37 % 1000; }

// Returns `text` with the arguments in printf's manner.
template <class... Values> std::string format(const char *text, Values... values) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, text, values...);
  return buffer;
}

int intOf(const FIX::FieldMap &fields, int tag) {
  return FIX::IntConvertor::convert(fields.getField(tag));
}

double doubleOf(const FIX::FieldMap &fields, int tag) {
  return FIX::DoubleConvertor::convert(fields.getField(tag));
}

char charOf(const FIX::FieldMap &fields, int tag) {
  return FIX::CharConvertor::convert(fields.getField(tag));
}

FIX::UtcTimeStamp timeOf(const FIX::FieldMap &fields, int tag) {
  return FIX::UtcTimeStampConvertor::convert(fields.getField(tag));
}

} // namespace

Nos222::Nos222(int n)
    : seq(10 + n), account(format("%08d", 1234567 + n * 1009)), clOrdId(format("%d", n % 10)),
      symbol(format("%cC", 'A' + n % 26)), quantity(10 + n), price((4005 + n * 7) / 10.0),
      side(n % 3 == 0 ? '2' : '1'), sendingTime(morning, millisOf(n)),
      transactTime(8, n % 60, n * 7 % 60, (millisOf(n) + 991) % 1000, 21, 11, 2026) {}

std::string Nos222::text() const {
  std::string fields = format(
      "35=D|49=A12345B|56=COMPARO|34=%d|52=20261121-09:00:00.%03d|50=2DEFGH4|57=G|142=AU,SY|"
      "60=20261121-08:%02d:%02d.%03d|1=%s|38=%d|44=%.1f|11=%s|21=1|40=2|54=%c|55=%s|58=NIGEL|59=0|"
      "107=AOZ3 C02000|167=OPT|",
      seq, sendingTime.getMillisecond(), transactTime.getMinute(), transactTime.getSecond(),
      transactTime.getMillisecond(), account.c_str(), static_cast<int>(quantity), price,
      clOrdId.c_str(), side, symbol.c_str());
  std::string whole = format("8=FIX.4.4|9=%zu|", fields.size()) + fields;
  unsigned sum = 0;
  for (char &byte : whole) {
    if (byte == '|')
      byte = '\001';
    sum += static_cast<unsigned char>(byte);
  }
  return whole + format("10=%03u\001", sum % 256);
}

FIX::Message Nos222::build() const {
  FIX::Message message;
  FIX::Header &header = message.getHeader();
  header.setField(FIX::BeginString("FIX.4.4"));
  header.setField(FIX::MsgType(FIX::MsgType_NewOrderSingle));
  header.setField(FIX::MsgSeqNum(seq));
  header.setField(FIX::SenderCompID("A12345B"));
  header.setField(FIX::SenderSubID("2DEFGH4"));
  header.setField(FIX::SendingTime(sendingTime, 3));
  header.setField(FIX::TargetCompID("COMPARO"));
  header.setField(FIX::TargetSubID("G"));
  header.setField(FIX::SenderLocationID("AU,SY"));
  message.setField(FIX::Account(account));
  message.setField(FIX::ClOrdID(clOrdId));
  message.setField(FIX::OrderQty(quantity));
  message.setField(FIX::OrdType(FIX::OrdType_LIMIT));
  message.setField(FIX::PriceField(FIX::FIELD::Price, price, 1)); // 404.0, not 404, as the ring has it
  message.setField(FIX::HandlInst('1'));
  message.setField(FIX::Symbol(symbol));
  message.setField(FIX::Text("NIGEL"));
  message.setField(FIX::Side(side));
  message.setField(FIX::SecurityDesc("AOZ3 C02000"));
  message.setField(FIX::TimeInForce(FIX::TimeInForce_DAY));
  message.setField(FIX::TransactTime(transactTime, 3));
  message.setField(FIX::SecurityType(FIX::SecurityType_OPTION));
  return message;
}

bool Nos222::operator==(const Nos222 &other) const {
  return seq == other.seq && account == other.account && clOrdId == other.clOrdId &&
         symbol == other.symbol && quantity == other.quantity && price == other.price &&
         side == other.side && sendingTime == other.sendingTime &&
         transactTime == other.transactTime;
}

long long readTyped(const FIX::Message &message, Nos222 &into) {
  const FIX::Header &header = message.getHeader();
  long long others = 0;
  for (int tag : {8, 35, 49, 50, 56, 57, 142})
    others += static_cast<long long>(header.getField(tag).size());
  others += intOf(header, 9);
  into.seq = intOf(header, 34);
  into.sendingTime = timeOf(header, 52);
  into.account = message.getField(1);
  into.clOrdId = message.getField(11);
  into.quantity = doubleOf(message, 38);
  into.price = doubleOf(message, 44);
  into.side = charOf(message, 54);
  into.symbol = message.getField(55);
  into.transactTime = timeOf(message, 60);
  others += charOf(message, 21) + charOf(message, 40) + charOf(message, 59);
  for (int tag : {58, 107, 167})
    others += static_cast<long long>(message.getField(tag).size());
  return others + (intOf(message.getTrailer(), 10) >= 0 ? 1 : 0);
}

long long constantsOfNos222() {
  const long long lengths = 7 + 1 + 7 + 7 + 7 + 1 + 5 + 5 + 11 + 3;
  return lengths + 199 + '1' + '2' + '0' + 1;
}
