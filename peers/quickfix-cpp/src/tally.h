// Counts received messages, so that a run can be judged: did every order arrive
// exactly once, is one missing, was a sequence number used twice? It sees the
// wire text, before QuickFIX discards messages that it already has.
#ifndef QF_PEER_TALLY_H
#define QF_PEER_TALLY_H

#include <map>
#include <mutex>
#include <string>

class Tally {
public:
  // Counts one message as received from the wire.
  void received(const std::string &raw);
  // Counts one application message that QuickFIX delivered.
  void delivered(const std::string &msgType, const std::string &clOrdId);
  // Writes one `tally` event for each application message type seen, then one
  // `tally-numbers` event.
  void report();

private:
  struct Counts {
    long long copies = 0;    // on the wire, of any kind
    long long live = 0;      // on the wire without PossDupFlag
    long long delivered = 0; // delivered to the application
  };
  typedef std::map<std::string, Counts> ByClOrdId;

  std::mutex m_mutex;
  std::map<std::string, ByClOrdId> m_byType;
  // What each MsgSeqNum of the current session was used for: "MsgType ClOrdID
  // ExecID". SequenceReset is omitted, because it may have any MsgSeqNum.
  std::map<long long, std::string> m_bySeqNum;
  long long m_reusedNumbers = 0;
};

#endif
