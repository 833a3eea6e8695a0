#include "events.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unistd.h>

namespace {

std::mutex writing;

// Bytes outside printable ASCII are written as \u00XX, so that a line is valid
// JSON whatever the counterparty sent.
void quote(std::string &out, const std::string &value) {
  out += '"';
  for (unsigned char byte : value) {
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += static_cast<char>(byte);
    } else if (byte < 0x20 || byte >= 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
    } else {
      out += static_cast<char>(byte);
    }
  }
  out += '"';
}

} // namespace

void Line::key(const char *key) {
  m_line += m_line.empty() ? '{' : ',';
  quote(m_line, key);
  m_line += ':';
}

Line &Line::text(const char *key, const std::string &value) {
  this->key(key);
  quote(m_line, value);
  return *this;
}

Line &Line::number(const char *key, long long value) {
  this->key(key);
  m_line += std::to_string(value);
  return *this;
}

Line &Line::real(const char *key, double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.9g", value);
  this->key(key);
  m_line += digits;
  return *this;
}

Line &Line::flag(const char *key, bool value) {
  this->key(key);
  m_line += value ? "true" : "false";
  return *this;
}

Line::~Line() {
  m_line += "}\n";
  std::lock_guard<std::mutex> lock(writing);
  const char *rest = m_line.data();
  size_t left = m_line.size();
  while (left > 0) {
    ssize_t written = ::write(STDOUT_FILENO, rest, left);
    if (written <= 0)
      std::_Exit(2); // nothing reads the events any more
    rest += written;
    left -= static_cast<size_t>(written);
  }
}

std::string fieldOf(const std::string &raw, int tag) {
  std::string head = std::to_string(tag) + '=';
  size_t at = 0;
  while (at < raw.size()) {
    size_t end = raw.find('\001', at);
    if (end == std::string::npos)
      end = raw.size();
    if (raw.compare(at, head.size(), head) == 0)
      return raw.substr(at + head.size(), end - at - head.size());
    at = end + 1;
  }
  return "";
}
