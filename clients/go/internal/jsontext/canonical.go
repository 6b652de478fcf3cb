package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Signed returns the bytes that a signature or a hash of JSON text covers: those of a string, and otherwise those of
// [Canonical].
func Signed(text []byte) ([]byte, error) {
	canonical, err := Canonical(text)
	if err != nil || canonical[0] != '"' {
		return canonical, err
	}
	var value string
	err = json.Unmarshal(text, &value)
	return []byte(value), err
}

// Canonical returns the form of JSON text that RFC 8785 defines. Different values have different
// forms, so it refuses duplicate names, lone surrogates, and numbers that the shortest decimal of a double does not equal.
func Canonical(text []byte) ([]byte, error) {
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, errors.New("not valid JSON")
	}
	if err := refuseLoneSurrogates(text); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return appendValue(nil, decoder)
}

func appendValue(out []byte, decoder *json.Decoder) ([]byte, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch value := token.(type) {
	case json.Delim:
		if value == '[' {
			return appendArray(out, decoder)
		}
		return appendObject(out, decoder)
	case json.Number:
		return appendNumber(out, value)
	case string:
		return appendString(out, value), nil
	case bool:
		return strconv.AppendBool(out, value), nil
	default:
		return append(out, "null"...), nil
	}
}

func appendArray(out []byte, decoder *json.Decoder) ([]byte, error) {
	out = append(out, '[')
	for first := true; decoder.More(); first = false {
		if !first {
			out = append(out, ',')
		}
		var err error
		if out, err = appendValue(out, decoder); err != nil {
			return nil, err
		}
	}
	_, err := decoder.Token()
	return append(out, ']'), err
}

type member struct {
	name  string
	order []uint16
	value []byte
}

func appendObject(out []byte, decoder *json.Decoder) ([]byte, error) {
	var members []member
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if seen[name] {
			return nil, errors.New("a member name occurs twice")
		}
		seen[name] = true
		value, err := appendValue(nil, decoder)
		if err != nil {
			return nil, err
		}
		members = append(members, member{name, utf16.Encode([]rune(name)), value})
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	sort.Slice(members, func(a, b int) bool { return less(members[a].order, members[b].order) })
	out = append(out, '{')
	for index, entry := range members {
		if index > 0 {
			out = append(out, ',')
		}
		out = appendString(out, entry.name)
		out = append(append(out, ':'), entry.value...)
	}
	return append(out, '}'), nil
}

func less(a, b []uint16) bool {
	for index := 0; index < len(a) && index < len(b); index++ {
		if a[index] != b[index] {
			return a[index] < b[index]
		}
	}
	return len(a) < len(b)
}

func appendString(out []byte, value string) []byte {
	const short = "\b\f\n\r\t\"\\"
	const letters = "bfnrt\"\\"
	out = append(out, '"')
	for _, char := range value {
		if place := strings.IndexRune(short, char); place >= 0 {
			out = append(out, '\\', letters[place])
		} else if char < ' ' {
			out = append(out, fmt.Sprintf("\\u%04x", char)...)
		} else {
			out = utf8.AppendRune(out, char)
		}
	}
	return append(out, '"')
}

// appendNumber writes a number as ECMAScript does.
func appendNumber(out []byte, number json.Number) ([]byte, error) {
	value, err := strconv.ParseFloat(string(number), 64)
	if err != nil || decimalOf(string(number)) != decimalOf(strconv.FormatFloat(value, 'e', -1, 64)) {
		return nil, errors.New("no IEEE double holds a number exactly")
	}
	if value == 0 {
		return append(out, '0'), nil
	}
	if size := math.Abs(value); size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(out, value, 'f', -1, 64), nil
	}
	text := strconv.FormatFloat(value, 'e', -1, 64)
	// ECMAScript writes 1e-7 where Go writes 1e-07.
	text = strings.Replace(strings.Replace(text, "e-0", "e-", 1), "e+0", "e+", 1)
	return append(out, text...), nil
}
