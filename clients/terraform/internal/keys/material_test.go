package keys

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The example of RFC 7638, section 3.1.
const (
	rsaJWK = `{"kty": "RSA", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw", "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"}`
	rsaSHA = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
	// One key in both forms.
	ecPEM = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMKBCTNIcKUSDii11ySs3526iDZ8A
iTo7Tu6KPAqv7D7gS2XpJFbZiItSs3m9+9Ue6GnvHw/GW2ZZaVtszggXIw==
-----END PUBLIC KEY-----`
	ecJWK = `{"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}`
)

func TestThumbprintsDoNotDependOnTheForm(t *testing.T) {
	if found, known := thumbprint(rsaJWK); !known || found != rsaSHA {
		t.Errorf("the thumbprint is %q", found)
	}
	fromPEM, known := thumbprint(ecPEM)
	fromJWK, alsoKnown := thumbprint(ecJWK)
	if !known || !alsoKnown || fromPEM != fromJWK {
		t.Errorf("%q of PEM, %q of the JWK", fromPEM, fromJWK)
	}
	for _, text := range []string{"", "{", `{"kty": "new"}`, "-----BEGIN PUBLIC KEY-----"} {
		if found, known := thumbprint(text); known {
			t.Errorf("the thumbprint of %q is %q", text, found)
		}
	}
}

func TestPrivateKeysAreRefusedWithoutShowingThem(t *testing.T) {
	const secret = "c2VjcmV0"
	for _, text := range []string{
		"-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----",
		ecPEM + "\n-----BEGIN EC PRIVATE KEY-----\n" + secret,
		`{"kty": "EC", "crv": "P-256", "x": "MKBC", "y": "4Etl", "d" : "` + secret + `"}`,
		`{"kty": "oct", "k": "` + secret + `"}`,
		`{"kty": "AKP", "alg": "ML-DSA-65", "pub": "MKBC", "priv": "` + secret + `"}`,
		`{"keys": [{"d": "` + secret + `",}]}`,
	} {
		found := validated(text)
		if len(found) != 1 || strings.Contains(found[0], secret) || !strings.Contains(found[0], "contains a private") {
			t.Errorf("%s: %q", text, found)
		}
	}
	for _, text := range []string{"", rsaJWK, ecJWK, ecPEM, "{"} {
		if found := validated(text); len(found) != 0 {
			t.Errorf("%s: %q", text, found)
		}
	}
}

// validated returns the errors of the validators of public_key.
func validated(text string) []string {
	request := validator.StringRequest{ConfigValue: types.StringValue(text)}
	var response validator.StringResponse
	publicOnly{}.ValidateString(context.Background(), request, &response)
	var errors []string
	for _, problem := range response.Diagnostics {
		errors = append(errors, problem.Summary()+problem.Detail())
	}
	return errors
}
