// Package schematest has what the tests of several schemas share.
package schematest

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// RefusesEmpty reports whether an attribute cannot be an empty text or an empty set.
func RefusesEmpty(attribute schema.Attribute) bool {
	switch known := attribute.(type) {
	case schema.StringAttribute:
		return slices.Contains(known.Validators, validator.String(stringvalidator.LengthAtLeast(1)))
	case schema.SetAttribute:
		return slices.Contains(known.Validators, validator.Set(setvalidator.SizeAtLeast(1)))
	default:
		return false
	}
}
