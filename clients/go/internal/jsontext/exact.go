package jsontext

import (
	"errors"
	"strconv"
	"strings"
)

// decimal is the value of a number: 0.digits times ten to the exponent, in lowest terms.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

func decimalOf(text string) decimal {
	mantissa, power := text, "0"
	if place := strings.IndexAny(text, "eE"); place >= 0 {
		mantissa, power = text[:place], text[place+1:]
	}
	negative := strings.HasPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	significant := strings.TrimLeft(whole+fraction, "0")
	digits := strings.TrimRight(significant, "0")
	if digits == "" {
		return decimal{}
	}
	// A power beyond 64 bits is clamped: it exceeds every double in any case.
	exponent, _ := strconv.ParseInt(power, 10, 64)
	zeros := len(whole) + len(fraction) - len(significant)
	return decimal{negative, digits, exponent + int64(len(whole)-zeros)}
}

// refuseLoneSurrogates examines the escapes of valid JSON text.
func refuseLoneSurrogates(text []byte) error {
	for index := 0; index < len(text); index++ {
		if text[index] != '\\' {
			continue
		}
		index++
		if text[index] != 'u' {
			continue
		}
		first := escaped(text, index)
		index += 4
		if first < 0xd800 || first > 0xdfff {
			continue
		}
		paired := first < 0xdc00 && index+2 < len(text) && text[index+1] == '\\' && text[index+2] == 'u'
		if !paired {
			return errLoneSurrogate
		}
		if second := escaped(text, index+2); second < 0xdc00 || second > 0xdfff {
			return errLoneSurrogate
		}
		index += 6
	}
	return nil
}

var errLoneSurrogate = errors.New("a string contains a lone surrogate")

// escaped returns the number of the escape whose u stands at index.
func escaped(text []byte, index int) uint64 {
	number, _ := strconv.ParseUint(string(text[index+1:index+5]), 16, 32)
	return number
}
