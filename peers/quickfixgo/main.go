// qfgo-peer: one quickfixgo session as a counterparty for tests. It reads commands from standard
// input, one per line, and prints events to standard output, one JSON object per line. Closing
// standard input stops it, as `stop` does. Every message is checked against quickfixgo's dictionary.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/quickfixgo/quickfix"
	"github.com/quickfixgo/quickfix/store/file"
)

const usage = `usage: qfgo-peer acceptor|initiator --port P --version FIX.4.2|FIX.4.4|FIXT.1.1
                 --sender S --target T --store DIR [--heartbeat SECS] [--set KEY=VALUE]...
KEY=VALUE is a setting of quickfixgo for the session, such as EnableNextExpectedMsgSeqNum=Y.
commands on standard input, one per line:
  orders N PREFIX [RATE]   send NewOrderSingles PREFIX-1 to PREFIX-N, RATE per second
  lost-orders N PREFIX     number and store orders without sending them
  group-order CLORDID      send a NewOrderSingle with two parties (FIX.4.4)
  big-order CLORDID BYTES  send a NewOrderSingle with a Text of BYTES bytes
  report on|off            answer each order with a filled ExecutionReport (on)
  testrequest ID           send a TestRequest
  gap-out N                raise the next sender MsgSeqNum by N, sending nothing
  gap-in N                 lower the expected target MsgSeqNum by N
  numbers                  print both sequence numbers
  tally                    print the counts of received messages
  logout | logon           log out; log on again (initiator)
  reset-logon              log on again with ResetSeqNumFlag=Y (initiator)
  stop                     log out, print the tally, end`

// A connector is quickfixgo's initiator or acceptor.
type connector interface {
	Start() error
	Stop()
}

type side struct {
	isInitiator bool
	options     map[string]string
	settings    []string
	session     *quickfix.Settings
	stores      *keptStores
	tally       *tally
	peer        *peer
	connector   connector
	senders     sync.WaitGroup
}

func main() {
	s, err := fromArgs(os.Args[1:])
	if err == nil {
		err = s.run()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "qfgo-peer: %v\n%s\n", err, usage)
		os.Exit(2)
	}
}

func fromArgs(args []string) (*side, error) {
	if len(args) == 0 || args[0] != "initiator" && args[0] != "acceptor" {
		return nil, fmt.Errorf("the role must be acceptor or initiator")
	}
	s := &side{isInitiator: args[0] == "initiator", options: map[string]string{"--heartbeat": "30"}}
	for args = args[1:]; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return nil, fmt.Errorf("%s needs a value", args[0])
		}
		if args[0] == "--set" {
			s.settings = append(s.settings, args[1])
		} else {
			s.options[args[0]] = args[1]
		}
	}
	for _, key := range []string{"--port", "--version", "--sender", "--target", "--store"} {
		if s.options[key] == "" {
			return nil, fmt.Errorf("%s is missing", key)
		}
	}
	return s, nil
}

// dictionaries returns the folder with quickfixgo's dictionaries, to which the makefile makes a link
// beside the program.
func dictionaries() (string, error) {
	program, err := os.Executable()
	return filepath.Join(filepath.Dir(program), "spec"), err
}

func (s *side) settingsText() (string, error) {
	spec, err := dictionaries()
	version := s.options["--version"]
	lines := []string{
		"[DEFAULT]", "FileStorePath=" + s.options["--store"], "FileStoreSync=N",
		"ReconnectInterval=1", "LogonTimeout=5", "LogoutTimeout=5",
		"HeartBtInt=" + s.options["--heartbeat"],
	}
	if s.isInitiator {
		lines = append(lines, "SocketConnectHost=127.0.0.1", "SocketConnectPort="+s.options["--port"])
	} else {
		lines = append(lines, "SocketAcceptHost=127.0.0.1", "SocketAcceptPort="+s.options["--port"])
	}
	lines = append(lines, "[SESSION]", "BeginString="+version,
		"SenderCompID="+s.options["--sender"], "TargetCompID="+s.options["--target"])
	if version == quickfix.BeginStringFIXT11 {
		lines = append(lines, "DefaultApplVerID=FIX.5.0SP2",
			"TransportDataDictionary="+filepath.Join(spec, "FIXT11.xml"),
			"AppDataDictionary="+filepath.Join(spec, "FIX50SP2.xml"))
	} else {
		lines = append(lines,
			"DataDictionary="+filepath.Join(spec, strings.ReplaceAll(version, ".", "")+".xml"))
	}
	lines = append(lines, s.settings...)
	return strings.Join(lines, "\n") + "\n", err
}

func (s *side) run() error {
	text, err := s.settingsText()
	if err != nil {
		return err
	}
	if s.session, err = quickfix.ParseSettings(strings.NewReader(text)); err != nil {
		return err
	}
	s.tally = newTally()
	s.stores = &keptStores{MessageStoreFactory: file.NewStoreFactory(s.session)}
	for id := range s.session.SessionSettings() {
		s.peer = newPeer(id, s.tally, s.stores)
	}
	if err := s.start(); err != nil {
		return err
	}
	newEvent("ready").flag("initiator", s.isInitiator).say()
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() && commands.Text() != "stop" {
		obeyed, err := s.obey(strings.Fields(commands.Text()))
		if err != nil {
			return err
		}
		if obeyed {
			newEvent("done").text("command", commands.Text()).say()
		} else {
			newEvent("refused").text("command", commands.Text()).say()
		}
	}
	s.senders.Wait()
	s.connector.Stop()
	s.peer.sayNumbers("numbers")
	s.tally.report()
	newEvent("stopped").say()
	return nil
}

// start begins the session; an initiator that was stopped is replaced by a new one.
func (s *side) start() (err error) {
	logs := wireLogs{tally: s.tally}
	if s.isInitiator {
		s.connector, err = quickfix.NewInitiator(s.peer, s.stores, s.session, logs)
	} else {
		s.connector, err = quickfix.NewAcceptor(s.peer, s.stores, s.session, logs)
	}
	if err != nil {
		return err
	}
	return s.connector.Start()
}

// obey executes one command; returns false if there is no such command.
func (s *side) obey(words []string) (bool, error) {
	if len(words) == 0 {
		return false, nil
	}
	number := func(at int) int { return numberOf(words[at]) }
	store := s.stores.store()
	switch fmt.Sprintf("%s/%d", words[0], len(words)-1) {
	case "orders/2", "orders/3":
		rate := 0
		if len(words) == 4 {
			rate = number(3)
		}
		s.senders.Add(1)
		go func() {
			defer s.senders.Done()
			s.peer.sendOrders(number(1), words[2], rate)
		}()
	case "lost-orders/2":
		return true, s.peer.loseOrders(number(1), words[2])
	case "group-order/1":
		s.peer.sendGroupOrder(words[1])
	case "big-order/2":
		s.peer.sendBigOrder(words[1], number(2))
	case "report/1":
		s.peer.silent.Store(words[1] == "off")
	case "testrequest/1":
		s.peer.sendTestRequest(words[1])
	case "gap-out/1":
		return true, store.SetNextSenderMsgSeqNum(store.NextSenderMsgSeqNum() + number(1))
	case "gap-in/1":
		return true, store.SetNextTargetMsgSeqNum(store.NextTargetMsgSeqNum() - number(1))
	case "numbers/0":
		s.peer.sayNumbers("numbers")
	case "tally/0":
		s.tally.report()
	case "logout/0", "logon/0", "reset-logon/0":
		if !s.isInitiator {
			return false, nil
		}
		if words[0] == "logout" {
			s.connector.Stop()
			return true, nil
		}
		s.peer.resetting.Store(words[0] == "reset-logon")
		return true, s.start()
	default:
		return false, nil
	}
	return true, nil
}
