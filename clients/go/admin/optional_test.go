package admin

import (
	"encoding/json"
	"reflect"
	"testing"

	"sealward.dev/go/internal/jsontext"
)

func TestEmptyIsNotAbsent(t *testing.T) {
	var none []string
	for wanted, body := range map[string]any{
		`{"name":"n","type":"admin","roles":[]}`: NewAPIKey{Name: "n", Type: "admin", Roles: Set(none)},
		`{"name":"n","type":"live","allowedOperations":[],"allowedCidrs":[],"certificateSha256":"","person":""}`: NewAPIKey{
			Name: "n", Type: "live", AllowedOperations: Set([]string{}), AllowedCIDRs: Set(none),
			CertificateSHA256: Set(""), Person: Set(""),
		},
		`{"name":"n","type":"live"}`: NewAPIKey{Name: "n", Type: "live"},
		`{"name":"n","serviceId":"s","allowedOperations":[],"match":{"issuer":"<i>","subject":""}}`: NewIdentity{
			Name: "n", ServiceID: "s", AllowedOperations: Set(none), Match: IdentityMatch{Issuer: Set("<i>"), Subject: Set("")},
		},
		`{"name":"n","serviceId":"s","match":{"claims":{},"spiffeId":"","certificateSha256":""}}`: NewIdentity{
			Name: "n", ServiceID: "s",
			Match: IdentityMatch{Claims: Set(map[string]any(nil)), SpiffeID: Set(""), CertificateSHA256: Set("")},
		},
		`{"name":"n","destinationServiceId":"s","allowedServiceIds":[],"allowedOperations":[]}`: NewPolicy{
			Name: "n", DestinationServiceID: "s", AllowedServiceIDs: []string{}, AllowedOperations: Set(none),
		},
		`{"allowedOperations":[],"allowedCidrs":null,"certificateSha256":"","roles":[]}`: APIKeyChanges{
			AllowedOperations: Set(none), AllowedCIDRs: Null[[]string](), CertificateSHA256: Set(""), Roles: Set([]string{}),
		},
		`{"allowedServiceIds":[]}`: PolicyChanges{AllowedServiceIDs: Set(none)},
	} {
		text, err := jsontext.Encode(body)
		if err != nil || string(text) != wanted {
			t.Errorf("%s, %v; wanted %s", text, err, wanted)
		}
	}
}

func TestOptionalIsReadAsItIsWritten(t *testing.T) {
	for _, text := range []string{`{"subject":"","claims":{"a":[1]}}`, `{"issuer":"i","subject":null}`, `{}`} {
		var read IdentityMatch
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(read)
		if err != nil || !sameJSON(t, written, text) {
			t.Errorf("%s, %v; wanted %s", written, err, text)
		}
	}
	for given, wanted := range map[*Optional[string]]bool{{}: false, {true: ""}: true, {false: ""}: false} {
		if value, isSet := given.Value(); isSet != wanted || value != "" {
			t.Errorf("%v: %q, %v", *given, value, isSet)
		}
	}
}

func sameJSON(t *testing.T, one []byte, other string) bool {
	t.Helper()
	var values [2]any
	for index, text := range [][]byte{one, []byte(other)} {
		if err := json.Unmarshal(text, &values[index]); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}
