package sealward

import (
	"bytes"
	"context"
	"os"
	"sync"
	"time"
)

const (
	idleTimeout      = 90 * time.Second
	handshakeTimeout = 10 * time.Second
)

// Credentials give the bearer credential of a request: an API key or a JSON Web Token. Each attempt asks again.
type Credentials interface {
	Bearer(ctx context.Context) (string, error)
}

// APIKey returns the credentials of an API key.
func APIKey(key string) Credentials { return &fixedCredential{bearer: key} }

// APIKeyFile returns the credentials of an API key in a file. The file is read again when it changes.
func APIKeyFile(path string) Credentials { return &fileCredential{file: watchedFile{path: path}} }

// TokenFile returns the credentials of a JSON Web Token in a file, such as a projected token of Kubernetes. The file is
// read again when it changes.
func TokenFile(path string) Credentials { return &fileCredential{file: watchedFile{path: path}} }

// CredentialsFromEnvironment returns the credentials of the one variable that is set: SEALWARD_API_KEY,
// SEALWARD_API_KEY_FILE or SEALWARD_TOKEN_FILE. Another number of variables is [ErrInvalidConfiguration].
func CredentialsFromEnvironment() (Credentials, error) {
	var found []Credentials
	if key := os.Getenv("SEALWARD_API_KEY"); key != "" {
		found = append(found, APIKey(key))
	}
	if path := os.Getenv("SEALWARD_API_KEY_FILE"); path != "" {
		found = append(found, APIKeyFile(path))
	}
	if path := os.Getenv("SEALWARD_TOKEN_FILE"); path != "" {
		found = append(found, TokenFile(path))
	}
	if len(found) != 1 {
		return nil, refuse(ErrInvalidConfiguration,
			"set exactly one of SEALWARD_API_KEY, SEALWARD_API_KEY_FILE and SEALWARD_TOKEN_FILE")
	}
	return found[0], nil
}

type fixedCredential struct{ bearer string }

func (f *fixedCredential) Bearer(context.Context) (string, error) { return f.bearer, nil }
func (f *fixedCredential) String() string                         { return redacted }
func (f *fixedCredential) GoString() string                       { return redacted }

type fileCredential struct {
	mutex  sync.Mutex
	file   watchedFile
	bearer string
}

func (f *fileCredential) Bearer(context.Context) (string, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	changed, err := f.file.refresh()
	if err != nil {
		return "", err
	}
	if changed {
		f.bearer = string(bytes.TrimSpace(f.file.text))
	}
	return f.bearer, nil
}

func (f *fileCredential) String() string   { return redacted }
func (f *fileCredential) GoString() string { return redacted }

// watchedFile is a file whose content is read again when its identity, size or time differs.
type watchedFile struct {
	path string
	text []byte
	seen os.FileInfo
}

// refresh reports whether the file was read again.
func (w *watchedFile) refresh() (bool, error) {
	now, err := os.Stat(w.path)
	if err != nil {
		return false, err
	}
	if w.seen != nil && os.SameFile(w.seen, now) && w.seen.Size() == now.Size() && w.seen.ModTime().Equal(now.ModTime()) {
		return false, nil
	}
	text, err := os.ReadFile(w.path)
	if err != nil {
		return false, err
	}
	w.text, w.seen = text, now
	return true, nil
}
