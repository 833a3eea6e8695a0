// The output of the peer: one JSON object per line on standard output, flushed
// at once. Objects are never nested, so that a reader needs no JSON library.
#ifndef QF_PEER_EVENTS_H
#define QF_PEER_EVENTS_H

#include <string>

// A line under construction; the destructor writes it.
class Event {
public:
  explicit Event(const std::string &name);
  ~Event();
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;

  Event &text(const char *key, const std::string &value);
  Event &number(const char *key, long long value);
  Event &flag(const char *key, bool value);

private:
  std::string m_line;
};

// Returns the value of the first field with this tag in raw wire text, or "".
// Correct for messages without data fields, the only ones that the peer uses.
std::string fieldOf(const std::string &raw, int tag);

#endif
