package jose

import (
	"encoding/hex"
	"testing"
)

// The vectors of RFC 3394, sections 4.1 and 4.6.
func TestWrapKeyIsThatOfTheRFC(t *testing.T) {
	for _, vector := range []struct{ kek, key, want string }{
		{
			"000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
			"1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5",
		},
		{
			"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
			"00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f",
			"28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21",
		},
	} {
		got, err := wrapKey(bytesOf(t, vector.kek), bytesOf(t, vector.key))
		if err != nil || hex.EncodeToString(got) != vector.want {
			t.Errorf("%x, %v, want %s", got, err, vector.want)
		}
	}
}

func bytesOf(t *testing.T, text string) []byte {
	t.Helper()
	content, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
