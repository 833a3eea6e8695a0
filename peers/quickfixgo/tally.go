package main

import (
	"sort"
	"strings"
	"sync"
)

// A tally counts received messages, so that a run can be judged: did every order arrive exactly
// once, is one missing, was a sequence number used twice? It sees the wire text, before quickfixgo
// discards messages that it already has.
type tally struct {
	mutex  sync.Mutex
	byType map[string]map[string]*counts // by MsgType and ClOrdID
	// What each MsgSeqNum of the current session was used for: "MsgType ClOrdID ExecID".
	// SequenceReset is omitted, because it may have any MsgSeqNum.
	bySeqNum map[int]string
	reused   int
}

type counts struct {
	copies    int // on the wire, of any kind
	live      int // on the wire without PossDupFlag
	delivered int // delivered to the application
}

func newTally() *tally {
	return &tally{byType: map[string]map[string]*counts{}, bySeqNum: map[int]string{}}
}

// receive counts one message as received from the wire.
func (t *tally) receive(raw []byte) {
	msgType, clOrdID := fieldOf(raw, 35), fieldOf(raw, 11)
	possDup := fieldOf(raw, 43) == "Y"
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if msgType == "A" && fieldOf(raw, 141) == "Y" {
		clear(t.bySeqNum)
	}
	if clOrdID != "" {
		order := t.counts(msgType, clOrdID)
		order.copies++
		if !possDup {
			order.live++
		}
	}
	if msgType == "4" {
		return
	}
	seqNum := numberOf(fieldOf(raw, 34))
	identity := msgType + " " + clOrdID + " " + fieldOf(raw, 17)
	known, used := t.bySeqNum[seqNum]
	if !used {
		t.bySeqNum[seqNum] = identity
	} else if known != identity || !possDup {
		t.reused++
		newEvent("reused-number").number("seq", seqNum).text("was", known).text("is", identity).say()
	}
}

// deliver counts one application message that quickfixgo delivered.
func (t *tally) deliver(msgType, clOrdID string) {
	if clOrdID == "" {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.counts(msgType, clOrdID).delivered++
}

// report writes one `tally` event for each application message type seen, then one `tally-numbers`
// event.
func (t *tally) report() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var msgTypes []string
	for msgType := range t.byType {
		msgTypes = append(msgTypes, msgType)
	}
	sort.Strings(msgTypes)
	for _, msgType := range msgTypes {
		report(msgType, t.byType[msgType])
	}
	newEvent("tally-numbers").number("reused", t.reused).say()
}

func report(msgType string, orders map[string]*counts) {
	var copies, duplicates, delivered, again, undelivered, missing int
	highest, distinct := map[string]int{}, map[string]int{} // by PREFIX
	for clOrdID, order := range orders {
		copies += order.copies
		duplicates += max(0, order.live-1)
		again += max(0, order.delivered-1)
		if order.delivered == 0 {
			undelivered++
			continue
		}
		delivered++
		if dash := strings.LastIndexByte(clOrdID, '-'); dash >= 0 {
			prefix := clOrdID[:dash]
			highest[prefix] = max(highest[prefix], numberOf(clOrdID[dash+1:]))
			distinct[prefix]++
		}
	}
	for prefix, number := range highest {
		missing += number - distinct[prefix]
	}
	newEvent("tally").
		text("msg_type", msgType).
		number("distinct", len(orders)).
		number("copies", copies).
		number("duplicates_without_possdup", duplicates).
		number("delivered", delivered).
		number("delivered_again", again).
		number("undelivered", undelivered).
		number("missing", missing).
		say()
}

func (t *tally) counts(msgType, clOrdID string) *counts {
	orders := t.byType[msgType]
	if orders == nil {
		orders = map[string]*counts{}
		t.byType[msgType] = orders
	}
	order := orders[clOrdID]
	if order == nil {
		order = &counts{}
		orders[clOrdID] = order
	}
	return order
}
