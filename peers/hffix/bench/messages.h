// The rings of messages: those of `fixbolt bench codec`, made from the same values.
#ifndef HFFIX_BENCH_MESSAGES_H
#define HFFIX_BENCH_MESSAGES_H

#include <hffix.hpp>

#include <cstddef>
#include <cstdio>
#include <string>

constexpr int ring = 64;

// A UTCTimestamp in its parts, as hffix writes it.
struct Time {
  int hour, minute, second, millisecond;

  bool operator==(const Time &other) const;
};

// NOS-222: the NewOrderSingle of FIX.4.4, 222 bytes and 24 fields, with which Fix8
// and QuickFIX were compared in 2013.
struct Nos222 {
  explicit Nos222(int n);

  // The message by the definition.
  std::string text() const;
  // Writes it with hffix and returns its size.
  std::size_t write(char *buffer, std::size_t size) const;

  int seq;
  std::string account, clOrdId, symbol;
  int quantity, tenths;
  char side;
  Time sendingTime, transactTime;
};

// AIM-97: a NewOrderSingle of FIX.4.4 with 97 bytes and 10 fields.
struct Aim97 {
  explicit Aim97(int n);

  std::string text() const;
  std::size_t write(char *buffer, std::size_t size) const;

  int quantity, price;
  std::string clOrdId;
};

// Returns `text` with the arguments in printf's manner.
template <class... Values> inline std::string format(const char *text, Values... values) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, text, values...);
  return buffer;
}

// Returns the whole message with these fields, of which each ends with a bar.
inline std::string whole(const std::string &fields) {
  std::string message = format("8=FIX.4.4|9=%zu|", fields.size()) + fields;
  unsigned sum = 0;
  for (char &byte : message) {
    if (byte == '|')
      byte = '\001';
    sum += static_cast<unsigned char>(byte);
  }
  return message + format("10=%03u\001", sum % 256);
}

inline void push(hffix::message_writer &writer, int tag, const std::string &text) {
  writer.push_back_string(tag, text.data(), text.data() + text.size());
}

inline void push(hffix::message_writer &writer, int tag, const Time &time) {
  writer.push_back_timestamp(tag, 2026, 11, 21, time.hour, time.minute, time.second, time.millisecond);
}

inline bool Time::operator==(const Time &other) const {
  return hour == other.hour && minute == other.minute && second == other.second &&
         millisecond == other.millisecond;
}

inline Nos222::Nos222(int n)
    : seq(10 + n), account(format("%08d", 1234567 + n * 1009)), clOrdId(format("%d", n % 10)),
      symbol(format("%cC", 'A' + n % 26)), quantity(10 + n), tenths(4005 + n * 7),
      side(n % 3 == 0 ? '2' : '1'), sendingTime{9, 0, 0, n * 37 % 1000},
      transactTime{8, n % 60, n * 7 % 60, (n * 37 % 1000 + 991) % 1000} {}

inline std::string Nos222::text() const {
  return whole(format(
      "35=D|49=A12345B|56=COMPARO|34=%d|52=20261121-09:00:00.%03d|50=2DEFGH4|57=G|142=AU,SY|"
      "60=20261121-08:%02d:%02d.%03d|1=%s|38=%d|44=%d.%d|11=%s|21=1|40=2|54=%c|55=%s|58=NIGEL|59=0|"
      "107=AOZ3 C02000|167=OPT|",
      seq, sendingTime.millisecond, transactTime.minute, transactTime.second,
      transactTime.millisecond, account.c_str(), quantity, tenths / 10, tenths % 10,
      clOrdId.c_str(), side, symbol.c_str()));
}

inline std::size_t Nos222::write(char *buffer, std::size_t size) const {
  hffix::message_writer writer(buffer, size);
  writer.push_back_header("FIX.4.4");
  writer.push_back_char(35, 'D');
  writer.push_back_string(49, "A12345B");
  writer.push_back_string(56, "COMPARO");
  writer.push_back_int(34, seq);
  push(writer, 52, sendingTime);
  writer.push_back_string(50, "2DEFGH4");
  writer.push_back_string(57, "G");
  writer.push_back_string(142, "AU,SY");
  push(writer, 60, transactTime);
  push(writer, 1, account);
  writer.push_back_int(38, quantity);
  writer.push_back_decimal(44, tenths, -1);
  push(writer, 11, clOrdId);
  writer.push_back_char(21, '1');
  writer.push_back_char(40, '2');
  writer.push_back_char(54, side);
  push(writer, 55, symbol);
  writer.push_back_string(58, "NIGEL");
  writer.push_back_char(59, '0');
  writer.push_back_string(107, "AOZ3 C02000");
  writer.push_back_string(167, "OPT");
  writer.push_back_trailer();
  return static_cast<std::size_t>(writer.message_end() - buffer);
}

inline Aim97::Aim97(int n)
    : quantity(100 + n), price(3000 + n * 7), clOrdId(format("%d_%d", 137386 + n * 31, n % 10)) {}

inline std::string Aim97::text() const {
  return whole(format("35=D|49=TEST_INSTANCE1|56=aimsGateway|38=%d|44=%d|55=AIMS.L|11=%s|", quantity,
                      price, clOrdId.c_str()));
}

inline std::size_t Aim97::write(char *buffer, std::size_t size) const {
  hffix::message_writer writer(buffer, size);
  writer.push_back_header("FIX.4.4");
  writer.push_back_char(35, 'D');
  writer.push_back_string(49, "TEST_INSTANCE1");
  writer.push_back_string(56, "aimsGateway");
  writer.push_back_int(38, quantity);
  writer.push_back_int(44, price);
  writer.push_back_string(55, "AIMS.L");
  push(writer, 11, clOrdId);
  writer.push_back_trailer();
  return static_cast<std::size_t>(writer.message_end() - buffer);
}

#endif
