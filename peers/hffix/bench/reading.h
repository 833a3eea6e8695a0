// What is read of a message. hffix does not verify CheckSum, which Fixbolt's rows
// include: it is summed up here.
#ifndef HFFIX_BENCH_READING_H
#define HFFIX_BENCH_READING_H

#include "messages.h"

#include <hffix.hpp>

// Whether there is a complete message whose first fields, length and CheckSum are right.
inline bool isRight(const hffix::message_reader &reader) {
  if (!reader.is_complete() || !reader.is_valid())
    return false;
  const hffix::message_reader::const_iterator trailer = reader.check_sum();
  const char *end = trailer->value().begin() - 3; // before "10="
  unsigned char sum = 0;
  for (const char *at = reader.message_begin(); at != end; ++at)
    sum = static_cast<unsigned char>(sum + static_cast<unsigned char>(*at));
  return trailer->value().as_int<int>() == sum;
}

// Keeps the optimizer from omitting what produced the value.
template <class Value> inline void use(const Value &value) { asm volatile("" : : "g"(value) : "memory"); }

// Visits every field; returns how many there are, without BeginString, BodyLength and
// CheckSum, which hffix does not visit.
inline int visit(const hffix::message_reader &reader) {
  int fields = 0;
  for (auto field = reader.begin(); field != reader.end(); ++field, ++fields) {
    use(field->tag());
    use(field->value().begin());
    use(field->value().end());
  }
  return fields;
}

// Six fields of NOS-222 as their types.
struct Six {
  const char *clOrdId, *clOrdIdEnd, *symbol, *symbolEnd;
  char side;
  int quantity, quantityExponent, price, priceExponent;
  Time transactTime;
};

// Moves `field` to the next one with this tag, from where it is and then from the
// beginning: as hffix advises to look up a field.
inline bool find(const hffix::message_reader &reader, hffix::message_reader::const_iterator &field, int tag) {
  const auto from = field;
  for (; field != reader.end(); ++field)
    if (field->tag() == tag)
      return true;
  for (field = reader.begin(); field != from; ++field)
    if (field->tag() == tag)
      return true;
  return false;
}

// Reads 11, 55, 54, 38, 44 and 60, which is not their order in the message. Returns
// whether all are there.
inline bool readSix(const hffix::message_reader &reader, Six &six) {
  auto field = reader.begin();
  if (!find(reader, field, 11))
    return false;
  six.clOrdId = field->value().begin(), six.clOrdIdEnd = field->value().end();
  if (!find(reader, field, 55))
    return false;
  six.symbol = field->value().begin(), six.symbolEnd = field->value().end();
  if (!find(reader, field, 54))
    return false;
  six.side = field->value().as_char();
  if (!find(reader, field, 38))
    return false;
  field->value().as_decimal(six.quantity, six.quantityExponent);
  if (!find(reader, field, 44))
    return false;
  field->value().as_decimal(six.price, six.priceExponent);
  int year, month, day;
  Time &time = six.transactTime;
  return find(reader, field, 60) && field->value().as_timestamp(year, month, day, time.hour, time.minute,
                                                                time.second, time.millisecond);
}

#endif
