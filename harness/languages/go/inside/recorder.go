package testing

// Compiled into the testing package of a trial's test programs (driver.py): reports each test's start and end on
// descriptor 3, a line each, behind a word that this trial alone has.

import (
	"strconv"
	"sync"
	"syscall"
	"unicode/utf8"
)

// Set by the linker; empty in programs that no trial has made.
var goldseamWord string

var goldseamLock sync.Mutex

const goldseamMost = 6000

func goldseamSay(body string) {
	if goldseamWord == "" {
		return
	}
	goldseamLock.Lock()
	defer goldseamLock.Unlock()
	data := []byte(goldseamWord + " {" + body + "}\n")
	for len(data) > 0 {
		n, err := syscall.Write(3, data)
		if n > 0 {
			data = data[n:]
		} else if err != syscall.EINTR && err != syscall.EAGAIN {
			return
		}
	}
}

func goldseamText(text string) string {
	quoted := []byte{'"'}
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			quoted = append(quoted, '\\', byte(r))
		case r < 0x20:
			quoted = append(quoted, "\\u00"...)
			quoted = append(quoted, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			var room [utf8.UTFMax]byte
			quoted = append(quoted, room[:utf8.EncodeRune(room[:], r)]...)
		}
	}
	return string(append(quoted, '"'))
}

var goldseamUnderWay []string

// The test that began last and has not ended.
func goldseamTest() string {
	goldseamLock.Lock()
	defer goldseamLock.Unlock()
	if len(goldseamUnderWay) == 0 {
		return ""
	}
	return goldseamUnderWay[len(goldseamUnderWay)-1]
}

func goldseamStart(name string) {
	goldseamLock.Lock()
	goldseamUnderWay = append(goldseamUnderWay, name)
	goldseamLock.Unlock()
	goldseamSay(`"t":"start","name":` + goldseamText(name))
}

func goldseamReport(c *common) {
	if c.parent == nil {
		return
	}
	status := "passed"
	if c.Failed() {
		status = "failed"
	} else if c.Skipped() {
		status = "skipped"
	}
	c.mu.RLock()
	text := string(c.output)
	seconds := c.duration.Seconds()
	c.mu.RUnlock()
	goldseamEnd(c.name, status, seconds, text)
}

func goldseamExample(name string, passed *bool) {
	status := "passed"
	if !*passed {
		status = "failed"
	}
	goldseamEnd(name, status, 0, "")
}

func goldseamEnd(name, status string, seconds float64, text string) {
	goldseamLock.Lock()
	for at := len(goldseamUnderWay) - 1; at >= 0; at-- {
		if goldseamUnderWay[at] == name {
			goldseamUnderWay = append(goldseamUnderWay[:at], goldseamUnderWay[at+1:]...)
			break
		}
	}
	goldseamLock.Unlock()
	if status != "failed" {
		text = ""
	} else if len(text) > goldseamMost {
		text = text[:goldseamMost]
	}
	took := strconv.FormatFloat(seconds, 'f', 6, 64)
	goldseamSay(`"t":"report","name":` + goldseamText(name) + `,"status":"` + status + `","seconds":` + took +
		`,"text":` + goldseamText(text))
}

func goldseamDone() {
	goldseamSay(`"t":"done"`)
}
