package managed

import (
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

var errProtected = errors.New("deletion_protection is true; set it to false and apply, then delete")

// Unprotected returns an error if deletion_protection forbids a deletion.
func Unprotected(protection types.Bool) error {
	if protection.ValueBool() {
		return errProtected
	}
	return nil
}

// Protection returns deletion_protection. It is true for an imported resource.
func Protection(before types.Bool) types.Bool {
	if before.IsNull() {
		return types.BoolValue(true)
	}
	return before
}
