// Package segments is the part of a sealed file after its line, as src/formats/envelope/FILE.md of Sealward defines it: the
// streaming AEAD AES256_GCM_HKDF_1MB of Tink.
package segments

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

const (
	// KeySize is the size of a data key in bytes.
	KeySize = 32

	segmentSize = 1 << 20
	saltSize    = 32
	prefixSize  = 7
	headerSize  = 1 + saltSize + prefixSize
	tagSize     = 16
	// maxSegments is the number of segments that the nonce can count.
	maxSegments = 1 << 32
)

// The two errors of a file.
var (
	ErrMalformed    = errors.New("the file does not begin as a sealed file")
	ErrNotAuthentic = errors.New("the file was truncated, extended or changed")
)

var errTooLong = errors.New("the plaintext is too long for a sealed file")

// cipherState encrypts or decrypts the segments of a file in their order.
type cipherState struct {
	aead  cipher.AEAD
	nonce [prefixSize + 5]byte
	next  uint64
}

func newCipherState(key, associated, header []byte) (*cipherState, error) {
	segmentKey := derive(key, header[1:1+saltSize], associated)
	defer wipe(segmentKey)
	block, err := aes.NewCipher(segmentKey)
	if err != nil {
		return nil, err
	}
	state := &cipherState{}
	copy(state.nonce[:], header[1+saltSize:])
	state.aead, err = cipher.NewGCM(block)
	return state, err
}

// advance returns the nonce of the next segment.
func (c *cipherState) advance(last bool) ([]byte, error) {
	if c.next == maxSegments {
		return nil, errTooLong
	}
	binary.BigEndian.PutUint32(c.nonce[prefixSize:], uint32(c.next))
	c.nonce[len(c.nonce)-1] = 0
	if last {
		c.nonce[len(c.nonce)-1] = 1
	}
	c.next++
	return c.nonce[:], nil
}

// capacity returns the length of the next segment in the file, unless it is a shorter last one.
func (c *cipherState) capacity() int {
	if c.next == 0 {
		return segmentSize - headerSize
	}
	return segmentSize
}

// derive is HKDF-SHA256 (RFC 5869) for 32 bytes, which are its first block.
func derive(key, salt, info []byte) []byte {
	extract := hmac.New(sha256.New, salt)
	extract.Write(key)
	pseudorandom := extract.Sum(nil)
	defer wipe(pseudorandom)
	expand := hmac.New(sha256.New, pseudorandom)
	expand.Write(info)
	expand.Write([]byte{1})
	return expand.Sum(nil)
}

func wipe(content []byte) {
	for index := range content {
		content[index] = 0
	}
}
