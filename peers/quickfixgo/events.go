package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

var writing sync.Mutex

// An event is a line of output under construction: one JSON object, flushed at once. Objects are
// never nested, so that a reader needs no JSON library.
type event struct{ line strings.Builder }

func newEvent(name string) *event {
	e := &event{}
	e.line.WriteString(`{"event":`)
	e.quote(name)
	return e
}

func (e *event) text(key, value string) *event {
	e.key(key)
	e.quote(value)
	return e
}

func (e *event) number(key string, value int) *event {
	e.key(key)
	e.line.WriteString(strconv.Itoa(value))
	return e
}

func (e *event) flag(key string, value bool) *event {
	e.key(key)
	e.line.WriteString(strconv.FormatBool(value))
	return e
}

// say writes the line.
func (e *event) say() {
	e.line.WriteString("}\n")
	writing.Lock()
	defer writing.Unlock()
	if _, err := os.Stdout.WriteString(e.line.String()); err != nil {
		os.Exit(2) // nothing reads the events any more
	}
}

func (e *event) key(key string) {
	e.line.WriteByte(',')
	e.quote(key)
	e.line.WriteByte(':')
}

// quote writes bytes outside printable ASCII as \u00XX, so that a line is valid JSON whatever the
// counterparty sent.
func (e *event) quote(value string) {
	e.line.WriteByte('"')
	for at := 0; at < len(value); at++ {
		switch next := value[at]; {
		case next == '"' || next == '\\':
			e.line.WriteByte('\\')
			e.line.WriteByte(next)
		case next < 0x20 || next >= 0x7f:
			fmt.Fprintf(&e.line, "\\u%04x", next)
		default:
			e.line.WriteByte(next)
		}
	}
	e.line.WriteByte('"')
}

// fieldOf returns the value of the first field with this tag in raw wire text, or "". Correct for
// messages without data fields, the only ones that the peer uses, and for every field but the first.
func fieldOf(raw []byte, tag int) string {
	_, rest, found := bytes.Cut(raw, []byte("\x01"+strconv.Itoa(tag)+"="))
	if !found {
		return ""
	}
	value, _, _ := bytes.Cut(rest, []byte("\x01"))
	return string(value)
}

// numberOf returns 0 for what is not a number.
func numberOf(digits string) int {
	number, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return number
}
