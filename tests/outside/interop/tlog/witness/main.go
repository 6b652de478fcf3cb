// A witness (C2SP tlog-witness) of logs with Ed25519 keys, made of the packages of Go's checksum database
// and nothing of Sealward.
//
// Usage: tlog-witness NAME CERTIFICATE KEY VERIFIER-KEY...
//
// It serves HTTPS on a free port of this machine with the certificate and key of two PEM files. It prints
// its URL and the verifier key of its cosignatures, and ends when its standard input ends.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// cosignature is the type of timestamped Ed25519 cosignatures (C2SP tlog-cosignature).
const cosignature = 0x04

// maxRequest is the maximum number of bytes of a request.
const maxRequest = 64 << 10

type witness struct {
	name   string
	key    ed25519.PrivateKey
	public []byte
	hash   []byte
	logs   map[string]note.Verifier
	mutex  sync.Mutex
	trees  map[string]tlog.Tree
}

// refusal is a response that is not a cosignature.
type refusal struct {
	status int
	body   string
}

func (r refusal) Error() string { return fmt.Sprintf("%d %s", r.status, r.body) }

func newWitness(name string, keys []string) *witness {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	check(err)
	typed := append([]byte{cosignature}, public...)
	hash := sha256.Sum256(append([]byte(name+"\n"), typed...))
	w := &witness{name: name, key: private, public: typed, hash: hash[:4]}
	w.logs, w.trees = map[string]note.Verifier{}, map[string]tlog.Tree{}
	for _, key := range keys {
		verifier, err := note.NewVerifier(key)
		check(err)
		w.logs[verifier.Name()] = verifier
	}
	return w
}

func (w *witness) verifierKey() string {
	return fmt.Sprintf("%s+%x+%s", w.name, w.hash, base64.StdEncoding.EncodeToString(w.public))
}

// cosign returns the signature line of a checkpoint.
func (w *witness) cosign(text string, now time.Time) string {
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s", now.Unix(), text)
	signature := append([]byte{}, w.hash...)
	signature = binary.BigEndian.AppendUint64(signature, uint64(now.Unix()))
	signature = append(signature, ed25519.Sign(w.key, []byte(message))...)
	return fmt.Sprintf("— %s %s\n", w.name, base64.StdEncoding.EncodeToString(signature))
}

// add answers a request to add a checkpoint.
func (w *witness) add(body []byte) (string, error) {
	request, checkpoint, found := bytes.Cut(body, []byte("\n\n"))
	if !found {
		return "", refusal{status: http.StatusBadRequest}
	}
	old, proof, err := parse(string(request))
	if err != nil {
		return "", refusal{http.StatusBadRequest, err.Error()}
	}
	origin, _, _ := strings.Cut(string(checkpoint), "\n")
	verifier, known := w.logs[origin]
	if !known {
		return "", refusal{status: http.StatusNotFound}
	}
	opened, err := note.Open(checkpoint, note.VerifierList(verifier))
	if err != nil {
		return "", refusal{http.StatusForbidden, err.Error()}
	}
	tree, err := treeOf(opened.Text)
	if err != nil || old > tree.N {
		return "", refusal{status: http.StatusBadRequest}
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	latest := w.trees[origin]
	if old != latest.N {
		return "", refusal{http.StatusConflict, fmt.Sprintf("%d\n", latest.N)}
	}
	if err := extends(tree, latest, proof); err != nil {
		return "", err
	}
	w.trees[origin] = tree
	return w.cosign(opened.Text, time.Now()), nil
}

// extends verifies that a tree extends the latest one.
func extends(tree, latest tlog.Tree, proof tlog.TreeProof) error {
	switch {
	case latest.N == tree.N && latest.N > 0 && latest.Hash != tree.Hash:
		return refusal{status: http.StatusConflict}
	case latest.N == 0 || latest.N == tree.N:
		if len(proof) > 0 {
			return refusal{http.StatusUnprocessableEntity, "the proof must be empty"}
		}
	default:
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, latest.N, latest.Hash); err != nil {
			return refusal{http.StatusUnprocessableEntity, err.Error()}
		}
	}
	return nil
}

// parse reads the lines before a checkpoint.
func parse(request string) (old int64, proof tlog.TreeProof, err error) {
	lines := strings.Split(request, "\n")
	if old, err = number(strings.TrimPrefix(lines[0], "old ")); err != nil {
		return 0, nil, err
	}
	for _, line := range lines[1:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return 0, nil, err
		}
		proof = append(proof, hash)
	}
	return old, proof, nil
}

// treeOf reads the text of a checkpoint.
func treeOf(text string) (tlog.Tree, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 4 {
		return tlog.Tree{}, errors.New("not a checkpoint")
	}
	size, err := number(lines[1])
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

func number(text string) (int64, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 || strconv.FormatInt(number, 10) != text {
		return 0, fmt.Errorf("not a size: %q", text)
	}
	return number, nil
}

func (w *witness) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	if request.URL.Path != "/add-checkpoint" || request.Method != http.MethodPost {
		http.NotFound(response, request)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxRequest))
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	line, err := w.add(body)
	var refused refusal
	if errors.As(err, &refused) {
		if refused.status == http.StatusConflict {
			response.Header().Set("Content-Type", "text/x.tlog.size")
		}
		response.WriteHeader(refused.status)
		line = refused.body
	}
	_, _ = io.WriteString(response, line)
}

func main() {
	w := newWitness(os.Args[1], os.Args[4:])
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("https://localhost:%d\n%s\n", listener.Addr().(*net.TCPAddr).Port, w.verifierKey())
	go func() { check(http.ServeTLS(listener, w, os.Args[2], os.Args[3])) }()
	_, err = io.Copy(io.Discard, os.Stdin)
	check(err)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
