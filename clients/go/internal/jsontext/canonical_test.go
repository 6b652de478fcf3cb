package jsontext

import "testing"

func TestCanonicalIsTheFormOfTheRFC(t *testing.T) {
	for text, want := range map[string]string{
		// RFC 8785, section 3.2.2, without the number that has a digit too many.
		`{"numbers": [333333333.3333333, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
		  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`: `{"literals":[null,true,false],` +
			`"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		// RFC 8785, section 3.2.3.
		`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`: "{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}",
		`[-0, 0.0, -0.0e7, 1e21, 123456789012345680000, 1e-6, 1e-7, 5e-324]`:          `[0,0,0,1e+21,123456789012345680000,0.000001,1e-7,5e-324]`,
		`{}`:          `{}`,
		`"\u007f/\b"`: "\"\x7f/\\b\"",
	} {
		got, err := Canonical([]byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestCanonicalRefusesWhatTwoValuesWouldShare(t *testing.T) {
	for _, text := range []string{
		`{"a":1,"\u0061":2}`, `"\ud800"`, `"\udc00\ud800"`, `["\ud800x"]`, `"\ud800\u0041"`,
		`9007199254740993`, `1e400`, `-1e400`, `1e-400`, `0.1000000000000000001`, `1180591620717411303424`, `1e99999999999999999999`,
		`01`, ``, `{} {}`, "\"\xff\"",
	} {
		if got, err := Canonical([]byte(text)); err == nil {
			t.Errorf("%s has the form %s", text, got)
		}
	}
}

func TestSignedIsTheContentOfAString(t *testing.T) {
	for text, want := range map[string]string{`"a\u00e9\n"`: "aé\n", `""`: "", ` {"b": 1.0} `: `{"b":1}`, `"\ud83d\ude00"`: "😀"} {
		got, err := Signed([]byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}
