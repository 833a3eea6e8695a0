package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/quickfixgo/quickfix"
)

// A peer is the application of the quickfixgo session. It executes commands and answers orders. It
// does not decide whether a run has passed: the harness does, from the events.
type peer struct {
	id         quickfix.SessionID
	tally      *tally
	stores     *keptStores
	process    string // unique across restarts of the process, as an ExecID must be
	executions atomic.Int64
	silent     atomic.Bool // orders get no ExecutionReport
	resetting  atomic.Bool // the next Logon has ResetSeqNumFlag=Y
	loggedOn   atomic.Bool
}

func newPeer(id quickfix.SessionID, tally *tally, stores *keptStores) *peer {
	process := fmt.Sprintf("%d.%d", os.Getpid(), time.Now().UnixMilli())
	return &peer{id: id, tally: tally, stores: stores, process: process}
}

// sendOrders sends NewOrderSingles PREFIX-1 to PREFIX-COUNT; at most `rate` per second, 0 for no
// limit.
func (p *peer) sendOrders(count int, prefix string, rate int) {
	start := time.Now()
	for i := 1; i <= count; i++ {
		p.send(p.order(prefix+"-"+strconv.Itoa(i), 1+i%1000))
		if rate > 0 {
			time.Sleep(time.Until(start.Add(time.Second * time.Duration(i) / time.Duration(rate))))
		}
	}
	newEvent("orders-sent").text("prefix", prefix).number("count", count).say()
}

// loseOrders numbers and stores orders as if they had been sent, but does not send them: the
// counterparty misses them, as it misses a message that was lost on the wire.
func (p *peer) loseOrders(count int, prefix string) error {
	store := p.stores.store()
	for i := 1; i <= count; i++ {
		seqNum := store.NextSenderMsgSeqNum()
		message := p.order(prefix+"-"+strconv.Itoa(i), 1+i%1000)
		message.Header.SetString(8, p.id.BeginString)
		message.Header.SetString(49, p.id.SenderCompID)
		message.Header.SetString(56, p.id.TargetCompID)
		message.Header.SetInt(34, seqNum)
		message.Header.SetField(52, quickfix.FIXUTCTimestamp{Time: time.Now().UTC()})
		if err := store.SaveMessageAndIncrNextSenderMsgSeqNum(seqNum, message.Bytes()); err != nil {
			return err
		}
	}
	newEvent("orders-lost").text("prefix", prefix).number("count", count).say()
	return nil
}

// sendGroupOrder sends a NewOrderSingle with two parties (FIX.4.4).
func (p *peer) sendGroupOrder(clOrdID string) {
	message := p.order(clOrdID, 100)
	parties := partyGroup()
	addParty(parties, "DEUTDEFF", "D", "1")
	addParty(parties, "TRADER7", "D", "11")
	message.Body.SetGroup(parties)
	p.send(message)
}

// sendBigOrder sends a NewOrderSingle with a Text of this many bytes.
func (p *peer) sendBigOrder(clOrdID string, bytes int) {
	message := p.order(clOrdID, 100)
	message.Body.SetString(58, strings.Repeat("x", bytes))
	p.send(message)
}

func (p *peer) sendTestRequest(testReqID string) {
	message := quickfix.NewMessage()
	message.Header.SetString(35, "1")
	message.Body.SetString(112, testReqID)
	p.send(message)
}

func (p *peer) sayNumbers(event string) {
	store := p.stores.store()
	newEvent(event).
		number("next_out", store.NextSenderMsgSeqNum()).
		number("next_in", store.NextTargetMsgSeqNum()).
		flag("logged_on", p.loggedOn.Load()).
		say()
}

func (p *peer) OnCreate(quickfix.SessionID) {}

func (p *peer) OnLogon(quickfix.SessionID) {
	p.loggedOn.Store(true)
	p.sayNumbers("logon")
}

func (p *peer) OnLogout(quickfix.SessionID) {
	p.loggedOn.Store(false)
	p.sayNumbers("logout")
}

func (p *peer) ToAdmin(message *quickfix.Message, _ quickfix.SessionID) {
	if message.IsMsgTypeOf("A") && p.resetting.CompareAndSwap(true, false) {
		message.Body.SetBool(141, true)
	}
}

func (p *peer) ToApp(*quickfix.Message, quickfix.SessionID) error { return nil }

func (p *peer) FromAdmin(*quickfix.Message, quickfix.SessionID) quickfix.MessageRejectError {
	return nil
}

func (p *peer) FromApp(message *quickfix.Message, _ quickfix.SessionID) quickfix.MessageRejectError {
	msgType, clOrdID := valueOf(&message.Header.FieldMap, 35), valueOf(&message.Body.FieldMap, 11)
	p.tally.deliver(msgType, clOrdID)
	e := newEvent("delivered").
		text("msg_type", msgType).
		text("cl_ord_id", clOrdID).
		number("seq", numberOf(valueOf(&message.Header.FieldMap, 34))).
		flag("poss_dup", valueOf(&message.Header.FieldMap, 43) == "Y").
		number("text_bytes", len(valueOf(&message.Body.FieldMap, 58)))
	if msgType == "8" {
		e.text("exec_id", valueOf(&message.Body.FieldMap, 17)).
			text("ord_status", valueOf(&message.Body.FieldMap, 39))
	}
	if parties := partiesOf(message); parties != "" {
		e.text("parties", parties)
	}
	e.say()
	switch msgType {
	case "D":
		if !p.silent.Load() {
			p.answer(message)
		}
	case "8", "j":
	default:
		return quickfix.UnsupportedMessageType()
	}
	return nil
}

func (p *peer) isFIX42() bool { return p.id.BeginString == "FIX.4.2" }

func (p *peer) order(clOrdID string, quantity int) *quickfix.Message {
	order := quickfix.NewMessage()
	order.Header.SetString(35, "D")
	order.Body.SetString(11, clOrdID)
	if p.isFIX42() {
		order.Body.SetString(21, "1")
	}
	order.Body.SetString(55, "FXBT")
	order.Body.SetString(54, "1")
	order.Body.SetField(60, quickfix.FIXUTCTimestamp{Time: time.Now().UTC()})
	order.Body.SetString(40, "2")
	order.Body.SetInt(38, quantity)
	order.Body.SetString(44, "57.00")
	return order
}

func (p *peer) answer(order *quickfix.Message) {
	execution := p.process + "." + strconv.FormatInt(p.executions.Add(1), 10)
	report := quickfix.NewMessage()
	report.Header.SetString(35, "8")
	report.Body.SetString(37, "O"+execution)
	report.Body.SetString(17, "E"+execution)
	if p.isFIX42() {
		report.Body.SetString(20, "0")
		report.Body.SetString(150, "2")
	} else {
		report.Body.SetString(150, "F")
	}
	report.Body.SetString(39, "2")
	for _, tag := range []quickfix.Tag{11, 38, 44, 54, 55, 58} { // as the order has them
		if value := valueOf(&order.Body.FieldMap, tag); value != "" {
			report.Body.SetString(tag, value)
		}
	}
	quantity, price := valueOf(&order.Body.FieldMap, 38), valueOf(&order.Body.FieldMap, 44)
	report.Body.SetString(32, quantity)
	report.Body.SetString(31, price)
	report.Body.SetString(151, "0")
	report.Body.SetString(14, quantity)
	report.Body.SetString(6, price)
	if ordered := readParties(order); ordered.Len() > 0 {
		parties := partyGroup()
		for at := 0; at < ordered.Len(); at++ {
			party := &ordered.Get(at).FieldMap
			addParty(parties, valueOf(party, 448), valueOf(party, 447), valueOf(party, 452))
		}
		report.Body.SetGroup(parties)
	}
	p.send(report)
}

func (p *peer) send(message *quickfix.Message) {
	if err := quickfix.SendToTarget(message, p.id); err != nil {
		newEvent("note").text("text", "not sent: "+err.Error()).say()
	}
}

func partyGroup() *quickfix.RepeatingGroup {
	return quickfix.NewRepeatingGroup(453, quickfix.GroupTemplate{
		quickfix.GroupElement(448), quickfix.GroupElement(447), quickfix.GroupElement(452),
	})
}

func addParty(parties *quickfix.RepeatingGroup, id, source, role string) {
	parties.Add().SetString(448, id).SetString(447, source).SetString(452, role)
}

func readParties(message *quickfix.Message) *quickfix.RepeatingGroup {
	parties := partyGroup()
	if message.Body.Has(453) {
		if err := message.Body.GetGroup(parties); err != nil {
			newEvent("note").text("text", "parties: "+err.Error()).say()
		}
	}
	return parties
}

// partiesOf returns "id/source/role" of every party, separated by commas.
func partiesOf(message *quickfix.Message) string {
	var all []string
	parties := readParties(message)
	for at := 0; at < parties.Len(); at++ {
		party := &parties.Get(at).FieldMap
		all = append(all, valueOf(party, 448)+"/"+valueOf(party, 447)+"/"+valueOf(party, 452))
	}
	return strings.Join(all, ",")
}

func valueOf(fields *quickfix.FieldMap, tag quickfix.Tag) string {
	value, err := fields.GetString(tag)
	if err != nil {
		return ""
	}
	return value
}
