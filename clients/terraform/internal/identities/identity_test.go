package identities

import (
	"encoding/json"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/terraform/internal/schematest"
)

// An empty value would be an identity without the restriction.
func TestEmptyValuesAreRefused(t *testing.T) {
	nested, isNested := attributes.Attributes["match"].(schema.SingleNestedAttribute)
	if !isNested {
		t.Fatal("match has no attributes")
	}
	for name, attribute := range map[string]schema.Attribute{
		"policy_number": attributes.Attributes["policy_number"], "allowed_operations": attributes.Attributes["allowed_operations"],
		"issuer": nested.Attributes["issuer"], "subject": nested.Attributes["subject"],
		"spiffe_id": nested.Attributes["spiffe_id"], "certificate_sha256": nested.Attributes["certificate_sha256"],
	} {
		if !schematest.RefusesEmpty(attribute) {
			t.Errorf("%s can be empty", name)
		}
	}
}

func TestEmptyIsNotAbsent(t *testing.T) {
	null := types.StringNull()
	for wanted, given := range map[string]match{
		`{"issuer":"i","subject":""}`:            {types.StringValue("i"), types.StringValue(""), jsontypes.NewNormalizedNull(), null, null},
		`{"issuer":"i","claims":{}}`:             {types.StringValue("i"), null, jsontypes.NewNormalizedValue("{}"), null, null},
		`{"spiffeId":"","certificateSha256":""}`: {null, null, jsontypes.NewNormalizedNull(), types.StringValue(""), types.StringValue("")},
	} {
		api, err := given.api()
		if err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(api)
		if err != nil || string(written) != wanted {
			t.Errorf("%s, %v; wanted %s", written, err, wanted)
		}
	}
	if _, err := (&match{Claims: jsontypes.NewNormalizedValue("null")}).api(); err == nil {
		t.Error("null is taken for claims")
	}
}
