package session

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"sealward.dev/go"
)

// Report adds an error as one line. The errors of the client contain neither credentials nor secrets.
func Report(found *diag.Diagnostics, doing string, err error) {
	found.AddError("Cannot "+doing+": "+escaped(strings.ReplaceAll(err.Error(), "sealward: ", "")), "")
}

// escaped returns a text, which a server can have chosen, without characters that a terminal obeys.
func escaped(text string) string {
	var line strings.Builder
	for _, character := range text {
		if unicode.IsControl(character) {
			line.WriteString(strings.Trim(strconv.QuoteRune(character), "'"))
		} else {
			line.WriteRune(character)
		}
	}
	return line.String()
}

// IsGone reports whether an error says that a resource does not exist.
func IsGone(err error) bool { return errors.Is(err, sealward.ErrNotFound) }
