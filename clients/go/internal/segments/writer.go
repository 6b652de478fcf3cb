package segments

import (
	"errors"
	"io"
)

var errClosed = errors.New("the file is already complete")

// Writer encrypts what is written to it. Only Close completes the file.
type Writer struct {
	target io.Writer
	state  *cipherState
	// plaintext is that of the next segment. It is written when it is full and more follows.
	plaintext []byte
	err       error
}

// NewWriter writes the header of a file, with a salt and a nonce prefix from random. The associated data covers the line before it.
func NewWriter(target io.Writer, random io.Reader, key, associated []byte) (*Writer, error) {
	header := make([]byte, headerSize)
	header[0] = headerSize
	if _, err := io.ReadFull(random, header[1:]); err != nil {
		return nil, err
	}
	state, err := newCipherState(key, associated, header)
	if err != nil {
		return nil, err
	}
	if _, err := target.Write(header); err != nil {
		return nil, err
	}
	return &Writer{target: target, state: state, plaintext: make([]byte, 0, segmentSize)}, nil
}

func (w *Writer) Write(content []byte) (int, error) {
	written := 0
	for w.err == nil && written < len(content) {
		free := w.state.capacity() - tagSize - len(w.plaintext)
		if free == 0 {
			w.flush(false)
			continue
		}
		part := content[written:]
		if len(part) > free {
			part = part[:free]
		}
		w.plaintext = append(w.plaintext, part...)
		written += len(part)
	}
	return written, w.err
}

// Close writes the last segment. It does not close the target.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.flush(true)
	wipe(w.plaintext[:cap(w.plaintext)])
	if w.err != nil {
		return w.err
	}
	w.err = errClosed
	return nil
}

func (w *Writer) flush(last bool) {
	nonce, err := w.state.advance(last)
	if err == nil {
		_, err = w.target.Write(w.state.aead.Seal(w.plaintext[:0], nonce, w.plaintext, nil))
	}
	w.plaintext, w.err = w.plaintext[:0], err
}
