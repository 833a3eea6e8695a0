#include "tally.h"

#include "events.h"

#include <algorithm>
#include <cstdlib>

void Tally::received(const std::string &raw) {
  std::string type = fieldOf(raw, 35);
  std::string clOrdId = fieldOf(raw, 11);
  bool possDup = fieldOf(raw, 43) == "Y";
  std::lock_guard<std::mutex> lock(m_mutex);
  if (type == "A" && fieldOf(raw, 141) == "Y")
    m_bySeqNum.clear();
  if (!clOrdId.empty()) {
    Counts &counts = m_byType[type][clOrdId];
    counts.copies++;
    counts.live += possDup ? 0 : 1;
  }
  if (type != "4") {
    long long seqNum = std::atoll(fieldOf(raw, 34).c_str());
    std::string identity = type + ' ' + clOrdId + ' ' + fieldOf(raw, 17);
    std::string &known = m_bySeqNum[seqNum];
    if (known.empty()) {
      known = identity;
    } else if (known != identity || !possDup) {
      m_reusedNumbers++;
      Event("reused-number").number("seq", seqNum).text("was", known).text("is", identity);
    }
  }
}

void Tally::delivered(const std::string &msgType, const std::string &clOrdId) {
  if (clOrdId.empty())
    return;
  std::lock_guard<std::mutex> lock(m_mutex);
  m_byType[msgType][clOrdId].delivered++;
}

void Tally::report() {
  std::lock_guard<std::mutex> lock(m_mutex);
  for (const auto &type : m_byType) {
    long long copies = 0, duplicates = 0, delivered = 0, twice = 0, undelivered = 0;
    std::map<std::string, std::pair<long long, long long>> runs; // PREFIX- -> highest, distinct
    for (const auto &order : type.second) {
      const Counts &counts = order.second;
      copies += counts.copies;
      duplicates += std::max(0LL, counts.live - 1);
      delivered += counts.delivered > 0;
      undelivered += counts.delivered == 0;
      twice += std::max(0LL, counts.delivered - 1);
      size_t dash = order.first.rfind('-');
      if (dash != std::string::npos && counts.delivered > 0) {
        auto &run = runs[order.first.substr(0, dash)];
        run.first = std::max(run.first, std::atoll(order.first.c_str() + dash + 1));
        run.second++;
      }
    }
    long long missing = 0;
    for (const auto &run : runs)
      missing += run.second.first - run.second.second;
    Event("tally")
        .text("msg_type", type.first)
        .number("distinct", static_cast<long long>(type.second.size()))
        .number("copies", copies)
        .number("duplicates_without_possdup", duplicates)
        .number("delivered", delivered)
        .number("delivered_again", twice)
        .number("undelivered", undelivered)
        .number("missing", missing);
  }
  Event("tally-numbers").number("reused", m_reusedNumbers);
}
