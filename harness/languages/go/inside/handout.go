package testing

// Compiled into the testing package beside recorder.go: what stripped tests hand out. A stripped assertion is
// `testing.Goldseam(t, SLOT, func() []interface{} { … return []interface{}{&a, &b} }, nil)`: what is handed out comes by
// its address, so that its static type is known. A panic is caught, as that is one kind of value, and the test goes on.
// What is expected stays on the host, which compares.

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	goldseamItems   = 20000
	goldseamLetters = 1 << 18
	goldseamLevels  = 40
	goldseamTimes   = 5001 // of one assertion in one test: with more than 5000 it is not judged on the host, and one more says so
)

var goldseamHanded = map[string]int{}

// Whether an assertion still hands out what it looks at, by how often a test has come to it.
func goldseamTakes(name string, slot int) bool {
	key := strconv.Itoa(slot) + " " + name
	goldseamLock.Lock()
	defer goldseamLock.Unlock()
	goldseamHanded[key]++
	return goldseamHanded[key] <= goldseamTimes
}

// Goldseam hands out what an assertion of a test looks at, and is false.
func Goldseam(t interface{}, slot int, values func() []interface{}, call func()) bool {
	name := goldseamTest()
	if named, ok := t.(interface{ Name() string }); ok {
		name = named.Name()
	}
	told, raised := []string{}, "null"
	takes := goldseamTakes(name, slot)
	func() {
		ended := false
		defer func() {
			if ended {
				return
			}
			if reason := recover(); reason != nil && takes {
				raised = goldseamValue(&reason)
			}
		}()
		if values != nil {
			for _, value := range values() {
				if takes {
					told = append(told, goldseamValue(value))
				}
			}
		}
		if call != nil {
			call()
		}
		ended = true
	}()
	if takes {
		goldseamHand(name, slot, told, raised)
	}
	return false
}

// GoldseamRows goes over a map by its keys' order, which is the same each time.
type GoldseamRows struct {
	Key  interface{}
	keys []reflect.Value
	at   int
}

// Next goes to the next key of a map, if there is one.
func (r *GoldseamRows) Next(rows interface{}) bool {
	if r.at == 0 {
		r.keys = reflect.ValueOf(rows).MapKeys()
		sort.Slice(r.keys, func(i, j int) bool {
			switch a, b := r.keys[i], r.keys[j]; a.Kind() {
			case reflect.String:
				return a.String() < b.String()
			case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
				return a.Int() < b.Int()
			default:
				return a.Uint() < b.Uint()
			}
		})
	}
	if r.at == len(r.keys) {
		return false
	}
	r.Key = r.keys[r.at].Interface()
	r.at++
	return true
}

// GoldseamChain is an error with all that it wraps, as errors.Is goes through it, and then those of Go's own errors, by
// name, that a method takes for one of these.
func GoldseamChain(err error) []error {
	chain := []error{}
	for rest := []error{err}; len(rest) > 0 && len(chain) < goldseamItems; {
		link := rest[0]
		rest = rest[1:]
		if link == nil {
			continue
		}
		chain = append(chain, link)
		if one, ok := link.(interface{ Unwrap() error }); ok {
			rest = append([]error{one.Unwrap()}, rest...)
		} else if many, ok := link.(interface{ Unwrap() []error }); ok {
			rest = append(append([]error{}, many.Unwrap()...), rest...)
		}
	}
	taken := []error{}
	for known := range goldseamErrors {
		if errors.Is(err, known) && !goldseamHas(chain, known) {
			taken = append(taken, known)
		}
	}
	sort.Slice(taken, func(i, j int) bool { return goldseamErrors[taken[i]] < goldseamErrors[taken[j]] })
	return append(chain, taken...)
}

func goldseamHas(chain []error, known error) bool {
	for _, link := range chain {
		if link == known {
			return true
		}
	}
	return false
}

type goldseamPanic chan struct{}

// GoldseamTry is the address of what an operand gives that is asked after others, and may panic where these settle it.
func GoldseamTry(value func() interface{}) (address interface{}) {
	defer func() {
		if recover() != nil {
			panicked := make(goldseamPanic)
			address = &panicked
		}
	}()
	return value()
}

// GoldseamAs is errors.As.
func GoldseamAs(err error, target interface{}) bool {
	return errors.As(err, target)
}

// GoldseamIs is errors.Is.
func GoldseamIs(err, target error) bool {
	return errors.Is(err, target)
}

// GoldseamIn is errors.Is of an error with all that it wraps.
func GoldseamIn(chain []error, target error) bool {
	return len(chain) > 0 && errors.Is(chain[0], target)
}

// Errors of Go's own packages that are told apart from others that say the same.
var goldseamErrors = map[error]string{
	context.Canceled: "context.Canceled", io.EOF: "io.EOF", io.ErrClosedPipe: "io.ErrClosedPipe",
	io.ErrNoProgress: "io.ErrNoProgress", io.ErrShortBuffer: "io.ErrShortBuffer", io.ErrShortWrite: "io.ErrShortWrite",
	io.ErrUnexpectedEOF: "io.ErrUnexpectedEOF", os.ErrClosed: "os.ErrClosed", os.ErrExist: "os.ErrExist",
	os.ErrInvalid: "os.ErrInvalid", os.ErrNotExist: "os.ErrNotExist", os.ErrPermission: "os.ErrPermission",
	strconv.ErrRange: "strconv.ErrRange", strconv.ErrSyntax: "strconv.ErrSyntax",
}

// GoldseamKnow has more of them told apart.
func GoldseamKnow(more map[string]error) bool {
	for name, err := range more {
		goldseamErrors[err] = name
	}
	return true
}

func goldseamHand(name string, slot int, told []string, raised string) {
	goldseamSay(`"t":"value","name":` + goldseamText(name) + `,"slot":` + strconv.Itoa(slot) +
		`,"values":[` + strings.Join(told, ",") + `],"raised":` + raised)
}

// An example whose output is `goldseam SLOT` hands out what it prints, and with `goldseam+` what follows as well.
func goldseamOutput(eg *InternalExample, stdout string) {
	head, rest, _ := strings.Cut(strings.TrimSpace(eg.Output), "\n")
	mark, number, _ := strings.Cut(head, " ")
	slot, err := strconv.Atoi(number)
	if err != nil || (mark != "goldseam" && mark != "goldseam+") {
		return
	}
	printed := strings.TrimSpace(stdout)
	told := []string{goldseamValue(&printed)}
	if mark == "goldseam+" {
		rest = strings.TrimSpace(rest)
		told = append(told, goldseamValue(&rest))
	}
	goldseamHand(eg.Name, slot, told, "null")
	eg.Output = stdout
}

type goldseamTooMuch struct{}

type goldseamWriter struct {
	items, letters int
	above          []uintptr
}

// The address of a value as JSON: whether an interface holds it, itself, and the text of an error.
func goldseamValue(address interface{}) (told string) {
	defer func() {
		if recover() != nil {
			told = `["go",false,["x","it can't be read"],null]`
		}
	}()
	if address == nil {
		return `["go",true,null,null]`
	}
	if holds, ok := address.(bool); ok { // of a comparison that is made here
		return strconv.FormatBool(holds)
	}
	value := reflect.ValueOf(address).Elem()
	writer := &goldseamWriter{items: goldseamItems, letters: goldseamLetters}
	held := value.Kind() == reflect.Interface
	text := "null"
	if err, ok := value.Interface().(error); ok && !(held && value.IsNil()) {
		text = goldseamErrorText(err)
	}
	if held {
		value = value.Elem()
	}
	return `["go",` + strconv.FormatBool(held) + "," + writer.value(value) + "," + text + "]"
}

func goldseamErrorText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "null"
		}
	}()
	told := err.Error()
	if len(told) > goldseamLetters || !utf8.ValidString(told) {
		return "null"
	}
	return goldseamText(told)
}

func (w *goldseamWriter) text(text string) string {
	w.letters -= len(text)
	if w.letters < 0 {
		panic(goldseamTooMuch{})
	}
	return goldseamText(text)
}

func goldseamHex(data []byte) string {
	const digits = "0123456789abcdef"
	text := make([]byte, 0, 2*len(data))
	for _, one := range data {
		text = append(text, digits[one>>4], digits[one&15])
	}
	return string(text)
}

func (w *goldseamWriter) value(v reflect.Value) string {
	w.items--
	if w.items < 0 || len(w.above) > goldseamLevels {
		panic(goldseamTooMuch{})
	}
	if !v.IsValid() {
		return "null"
	}
	w.above = append(w.above, 0)
	defer func() { w.above = w.above[:len(w.above)-1] }()
	kind := goldseamText(v.Type().String() + goldseamCompares(v.Type()))
	switch v.Kind() {
	case reflect.Bool:
		return `["b",` + kind + "," + strconv.FormatBool(v.Bool()) + "]"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return `["i",` + kind + `,"` + strconv.FormatInt(v.Int(), 10) + `"]`
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return `["i",` + kind + `,"` + strconv.FormatUint(v.Uint(), 10) + `"]`
	case reflect.Float32, reflect.Float64:
		return `["f",` + kind + `,"` + goldseamFloat(v.Float(), v.Type().Bits()) + `"]`
	case reflect.Complex64, reflect.Complex128:
		bits := v.Type().Bits() / 2
		return `["c",` + kind + `,"` + goldseamFloat(real(v.Complex()), bits) + `","` +
			goldseamFloat(imag(v.Complex()), bits) + `"]`
	case reflect.String:
		if utf8.ValidString(v.String()) {
			return `["s",` + kind + "," + w.text(v.String()) + "]"
		}
		return `["S",` + kind + "," + w.text(goldseamHex([]byte(v.String()))) + "]"
	case reflect.Interface:
		if v.IsNil() {
			return "null"
		}
		return `["a",` + w.value(v.Elem()) + "]"
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return `["n",` + kind + "]"
		}
		return w.list(v, kind)
	case reflect.Map:
		if v.IsNil() {
			return `["n",` + kind + "]"
		}
		return w.pairs(v, kind)
	case reflect.Struct:
		return w.fields(v, kind)
	case reflect.Ptr:
		if v.IsNil() {
			return `["n",` + kind + "]"
		}
		return w.pointer(v, kind)
	case reflect.Func:
		if v.IsNil() {
			return `["n",` + kind + "]"
		}
		return `["F",` + kind + "]"
	case reflect.Chan, reflect.UnsafePointer:
		if v.IsNil() {
			return `["n",` + kind + "]"
		}
	}
	return `["x",` + kind + "]"
}

// What follows the name of a type other than a struct that has a method by which go-cmp would compare.
func goldseamCompares(kind reflect.Type) string {
	if kind.Kind() != reflect.Struct && kind.Kind() != reflect.Ptr && kind.PkgPath() != "" {
		if _, compares := kind.MethodByName("Equal"); compares {
			return "="
		}
	}
	return ""
}

func goldseamFloat(number float64, bits int) string {
	return strconv.FormatFloat(number, 'g', -1, bits)
}

func (w *goldseamWriter) list(v reflect.Value, kind string) string {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		data := make([]byte, 0, v.Len())
		for i := 0; i < v.Len() && i <= goldseamLetters; i++ {
			data = append(data, byte(v.Index(i).Uint()))
		}
		return `["B",` + kind + "," + w.text(goldseamHex(data)) + "]"
	}
	items := []string{}
	for i := 0; i < v.Len(); i++ {
		items = append(items, w.value(v.Index(i)))
	}
	return `["l",` + kind + ",[" + strings.Join(items, ",") + "]]"
}

func (w *goldseamWriter) pairs(v reflect.Value, kind string) string {
	pairs := []string{}
	for entries := v.MapRange(); entries.Next(); {
		pairs = append(pairs, "["+w.value(entries.Key())+","+w.value(entries.Value())+"]")
	}
	sort.Strings(pairs)
	return `["m",` + kind + ",[" + strings.Join(pairs, ",") + "]]"
}

// A field that is the zero value of its type is left out. A method by which go-cmp would compare is told of.
func (w *goldseamWriter) fields(v reflect.Value, kind string) string {
	fields := []string{}
	if _, compares := reflect.PtrTo(v.Type()).MethodByName("Equal"); compares {
		fields = append(fields, `["Equal()",["b","bool",true]]`)
	}
	for i := 0; i < v.NumField(); i++ {
		if name := v.Type().Field(i).Name; name != "_" && !v.Field(i).IsZero() {
			fields = append(fields, "["+w.text(name)+","+w.value(v.Field(i))+"]")
		}
	}
	return `["t",` + kind + ",[" + strings.Join(fields, ",") + "]]"
}

func (w *goldseamWriter) pointer(v reflect.Value, kind string) string {
	for level, address := range w.above {
		if address == v.Pointer() && address != 0 {
			return `["r",` + kind + `,` + strconv.Itoa(len(w.above)-1-level) + "]"
		}
	}
	if kind == `"*time.Location"` {
		name := `["s","string",` + w.text(v.Elem().FieldByName("name").String()) + "]"
		zones := v.Elem().FieldByName("zone")
		if zones.Len() != 1 || name == `["s","string","Local"]` {
			return `["p",` + kind + "," + name + "]"
		}
		offset := strconv.FormatInt(zones.Index(0).FieldByName("offset").Int(), 10)
		return `["p",` + kind + `,["t","time.Location",[["name",` + name + `],["offset",["i","int","` + offset + `"]]]]]`
	}
	w.above[len(w.above)-1] = v.Pointer()
	known := ""
	if kind == `"*errors.errorString"` {
		for err, name := range goldseamErrors {
			if reflect.ValueOf(err).Pointer() == v.Pointer() {
				known = `,"` + name + `"`
			}
		}
	}
	return `["p",` + kind + "," + w.value(v.Elem()) + known + "]"
}
