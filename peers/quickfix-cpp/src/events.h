// The output of these programs: one JSON object per line on standard output,
// flushed at once. Objects are never nested, so that a reader needs no JSON library.
#ifndef QF_PEER_EVENTS_H
#define QF_PEER_EVENTS_H

#include <string>

// A line under construction; the destructor writes it.
class Line {
public:
  Line() = default;
  ~Line();
  Line(const Line &) = delete;
  Line &operator=(const Line &) = delete;

  Line &text(const char *key, const std::string &value);
  Line &number(const char *key, long long value);
  Line &real(const char *key, double value);
  Line &flag(const char *key, bool value);

private:
  void key(const char *key);

  std::string m_line;
};

// A line that begins with the name of an event.
class Event : public Line {
public:
  explicit Event(const std::string &name) { text("event", name); }
};

// Returns the value of the first field with this tag in raw wire text, or "".
// Correct for messages without data fields, the only ones that the peer uses.
std::string fieldOf(const std::string &raw, int tag);

#endif
