package main

import (
	"fmt"
	"strings"
	"sync"

	"github.com/quickfixgo/quickfix"
)

// wireLogs makes the wire traffic of the session visible.
type wireLogs struct{ tally *tally }

func (l wireLogs) Create() (quickfix.Log, error)                             { return wireLog(l), nil }
func (l wireLogs) CreateSessionLog(quickfix.SessionID) (quickfix.Log, error) { return wireLog(l), nil }

type wireLog struct{ tally *tally }

func (l wireLog) OnIncoming(raw []byte) {
	l.tally.receive(raw)
	note("in", raw)
}

func (l wireLog) OnOutgoing(raw []byte) { note("out", raw) }

func (l wireLog) OnEvent(text string) { newEvent("note").text("text", text).say() }

func (l wireLog) OnEventf(format string, args ...interface{}) {
	l.OnEvent(fmt.Sprintf(format, args...))
}

// note prints session messages with their whole text, application messages in short.
func note(direction string, raw []byte) {
	msgType := fieldOf(raw, 35)
	admin := len(msgType) == 1 && strings.Contains("0A12345", msgType)
	e := newEvent(direction).
		text("msg_type", msgType).
		flag("admin", admin).
		number("seq", numberOf(fieldOf(raw, 34))).
		flag("poss_dup", fieldOf(raw, 43) == "Y")
	if admin {
		e.text("raw", string(raw))
	} else {
		e.text("cl_ord_id", fieldOf(raw, 11)).text("exec_id", fieldOf(raw, 17))
	}
	e.say()
}

// keptStores remembers the session's store: quickfixgo forgets the session of an initiator that is
// stopped, which is its only way to log out, but the peer still has to know the sequence numbers.
type keptStores struct {
	quickfix.MessageStoreFactory
	mutex sync.Mutex
	last  quickfix.MessageStore
}

func (k *keptStores) Create(id quickfix.SessionID) (quickfix.MessageStore, error) {
	store, err := k.MessageStoreFactory.Create(id)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.last = store
	return store, err
}

func (k *keptStores) store() quickfix.MessageStore {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.last
}
