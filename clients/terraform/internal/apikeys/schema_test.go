package apikeys

import (
	"testing"

	"sealward.dev/terraform/internal/schematest"
)

// An empty value would be a key without the restriction, or one of an owner.
func TestEmptyValuesAreRefused(t *testing.T) {
	for _, name := range []string{"service_id", "policy_number", "certificate_sha256", "person", "allowed_operations", "allowed_cidrs", "roles"} {
		if !schematest.RefusesEmpty(attributes.Attributes[name]) {
			t.Errorf("%s can be empty", name)
		}
	}
}
