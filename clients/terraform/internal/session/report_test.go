package session

import (
	"errors"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

func TestAnErrorIsOneLineWithoutControlCharacters(t *testing.T) {
	var found diag.Diagnostics
	Report(&found, "read the key", errors.New("sealward: not allowed: a\r\n\x1b[31m\u009bb \u00e9"))
	if text := found[0].Summary(); text != `Cannot read the key: not allowed: a\r\n\x1b[31m\u009bb é` {
		t.Errorf("the error is %q", text)
	}
}
