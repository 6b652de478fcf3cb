package segments

import (
	"bufio"
	"io"
)

// Reader decrypts a file. It returns the bytes of a segment only after it has verified the tag, and [io.EOF] only after
// the last segment.
type Reader struct {
	source *bufio.Reader
	state  *cipherState
	// segment is the memory of a segment, and plaintext what of it was not returned yet.
	segment   []byte
	plaintext []byte
	err       error
}

// NewReader reads the header of a file. The associated data covers the line before it.
func NewReader(source *bufio.Reader, key, associated []byte) (*Reader, error) {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(source, header); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = ErrMalformed
		}
		return nil, err
	}
	if header[0] != headerSize {
		return nil, ErrMalformed
	}
	state, err := newCipherState(key, associated, header)
	if err != nil {
		return nil, err
	}
	return &Reader{source: source, state: state, segment: make([]byte, segmentSize)}, nil
}

func (r *Reader) Read(buffer []byte) (int, error) {
	for len(r.plaintext) == 0 && r.err == nil {
		r.advance()
	}
	if len(r.plaintext) == 0 {
		return 0, r.err
	}
	count := copy(buffer, r.plaintext)
	r.plaintext = r.plaintext[count:]
	return count, nil
}

// advance reads a segment. It sets the error that follows the bytes of the segment, if one does.
func (r *Reader) advance() {
	first := r.state.next == 0
	segment := r.segment[:r.state.capacity()]
	length, err := io.ReadFull(r.source, segment)
	if err == nil {
		_, err = r.source.Peek(1)
	}
	last := err == io.EOF || err == io.ErrUnexpectedEOF
	if err != nil && !last {
		r.err = err
		return
	}
	if length < tagSize || length == tagSize && !first {
		r.err = ErrNotAuthentic
		return
	}
	nonce, err := r.state.advance(last)
	if err == nil {
		r.plaintext, err = r.state.aead.Open(segment[:0], nonce, segment[:length], nil)
	}
	switch {
	case err != nil:
		r.plaintext, r.err = nil, ErrNotAuthentic
		wipe(r.segment)
	case last:
		r.err = io.EOF
	}
}
