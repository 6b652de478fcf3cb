package sealward

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"io"
	"regexp"

	"sealward.dev/go/internal/segments"
)

// maxLine bounds the first line of a sealed file.
const maxLine = 16384

var lineForm = regexp.MustCompile(`^\{"protected":"[\w-]+","encrypted_key":"[\w-]+","iv":"[\w-]+","ciphertext":"[\w-]+","tag":"[\w-]+"\}\n$`)

// FileOptions select the data key of a sealed file or stream.
type FileOptions struct {
	// PolicyNumber selects the policy. Without it, the policy that is bound to the credential decides.
	PolicyNumber string
	Context      Context
	// Progress receives the number of bytes of plaintext so far, and the total number, or -1 if it is unknown.
	Progress func(done, total int64)
}

// NewEncryptWriter returns a writer that encrypts to target what is written to it. The stream is complete only after its
// Close, which does not close target.
func (c *Client) NewEncryptWriter(ctx context.Context, target io.Writer, options FileOptions) (io.WriteCloser, error) {
	return c.encryptWriter(ctx, target, options, -1)
}

func (c *Client) encryptWriter(ctx context.Context, target io.Writer, options FileOptions, total int64) (io.WriteCloser, error) {
	request := DataKeyRequest{PolicyNumber: options.PolicyNumber, Context: options.Context, Algorithm: "AES-256"}
	accounted := total
	if accounted < 0 {
		accounted = 0
	}
	made, err := c.CachedDataKey(ctx, request, accounted)
	if err != nil {
		return nil, err
	}
	defer made.Key.Wipe()
	line, err := lineOf(made.Envelope)
	if err != nil || len(made.Key.Bytes()) != segments.KeySize {
		return nil, refuse(ErrUnexpectedAnswer, "not a data key for a sealed file")
	}
	if _, err := target.Write(line); err != nil {
		return nil, err
	}
	associated := sha256.Sum256(line)
	writer, err := segments.NewWriter(target, rand.Reader, made.Key.Bytes(), associated[:])
	if err != nil {
		return nil, err
	}
	return &progressWriter{WriteCloser: writer, progress: progress{options.Progress, 0, total}}, nil
}

// lineOf returns the first line of a file, with its members in the order that the format defines.
func lineOf(envelope Envelope) ([]byte, error) {
	var members struct {
		Protected    string `json:"protected"`
		EncryptedKey string `json:"encrypted_key"`
		IV           string `json:"iv"`
		Ciphertext   string `json:"ciphertext"`
		Tag          string `json:"tag"`
	}
	if err := json.Unmarshal([]byte(envelope.text), &members); err != nil {
		return nil, err
	}
	line, err := json.Marshal(members)
	if line = append(line, '\n'); err == nil && (len(line) > maxLine || !lineForm.Match(line)) {
		err = segments.ErrMalformed
	}
	return line, err
}

// NewDecryptReader returns a reader of the plaintext of a sealed stream. The bytes that it returns are authentic, but
// complete only when it returns [io.EOF]. A stream that was truncated or changed ends with [ErrFileNotAuthentic].
func (c *Client) NewDecryptReader(ctx context.Context, source io.Reader, options FileOptions) (io.Reader, error) {
	return c.decryptReader(ctx, source, options, -1)
}

func (c *Client) decryptReader(ctx context.Context, source io.Reader, options FileOptions, total int64) (io.Reader, error) {
	buffered := bufio.NewReaderSize(source, maxLine)
	line, err := buffered.ReadSlice('\n')
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, err
	}
	if err != nil || !lineForm.Match(line) {
		return nil, refuse(ErrMalformedFile, "the first line is not an envelope")
	}
	associated := sha256.Sum256(line)
	key, err := c.OpenDataKey(ctx, UnprotectRequest{
		Envelope: Envelope{text: string(bytes.TrimSuffix(line, []byte("\n")))}, PolicyNumber: options.PolicyNumber,
		Context: options.Context,
	})
	if err != nil {
		return nil, err
	}
	defer key.Wipe()
	if len(key.Bytes()) != segments.KeySize {
		return nil, refuse(ErrMalformedFile, "the envelope contains no key of 32 bytes")
	}
	reader, err := segments.NewReader(buffered, key.Bytes(), associated[:])
	if err != nil {
		return nil, fileError(err)
	}
	return &progressReader{reader: reader, progress: progress{options.Progress, 0, total}}, nil
}

func fileError(err error) error {
	switch err {
	case segments.ErrMalformed:
		return &Error{Kind: ErrMalformedFile, cause: err}
	case segments.ErrNotAuthentic:
		return &Error{Kind: ErrFileNotAuthentic, cause: err}
	}
	return err
}

type progress struct {
	report      func(done, total int64)
	done, total int64
}

func (p *progress) add(count int) {
	p.done += int64(count)
	if p.report != nil && count > 0 {
		p.report(p.done, p.total)
	}
}

type progressWriter struct {
	io.WriteCloser
	progress progress
}

func (w *progressWriter) Write(content []byte) (int, error) {
	count, err := w.WriteCloser.Write(content)
	w.progress.add(count)
	return count, err
}

type progressReader struct {
	reader   *segments.Reader
	progress progress
}

func (r *progressReader) Read(buffer []byte) (int, error) {
	count, err := r.reader.Read(buffer)
	r.progress.add(count)
	return count, fileError(err)
}
