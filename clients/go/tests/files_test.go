package tests

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sealward.dev/go"
	"sealward.dev/go/internal/segments"
)

// vectors are those of clients/conformance/files, which src/formats/envelope/FILE.md describes.
type vectors struct {
	DataKey  []byte `json:"dataKey"`
	Envelope string `json:"envelope"`
	Files    []struct {
		Name      string `json:"name"`
		Plaintext struct {
			Repeat string `json:"repeat"`
			Length int    `json:"length"`
		} `json:"plaintext"`
		Salt        []byte `json:"salt"`
		NoncePrefix []byte `json:"noncePrefix"`
		Size        int    `json:"size"`
		SHA256      string `json:"sha256"`
	} `json:"files"`
	Broken []struct {
		Name      string `json:"name"`
		Of        string `json:"of"`
		Edits     []edit `json:"edits"`
		Error     string `json:"error"`
		Authentic int    `json:"authentic"`
	} `json:"broken"`
}

type edit struct {
	Remove *struct{ At, Length int } `json:"remove"`
	Insert *struct {
		At     int
		Base64 []byte
	} `json:"insert"`
	Flip *struct{ At int } `json:"flip"`
}

func (e edit) apply(file []byte) []byte {
	edited := append([]byte(nil), file...)
	switch {
	case e.Remove != nil:
		return append(edited[:e.Remove.At], file[e.Remove.At+e.Remove.Length:]...)
	case e.Insert != nil:
		return append(append(edited[:e.Insert.At], e.Insert.Base64...), file[e.Insert.At:]...)
	}
	edited[e.Flip.At] ^= 1
	return edited
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	folder := os.Getenv("SEALWARD_FILE_VECTORS")
	if folder == "" {
		folder = "../../conformance/files"
	}
	text, err := os.ReadFile(filepath.Join(folder, "vectors.json"))
	must(t, err)
	var found vectors
	must(t, json.Unmarshal(text, &found))
	return found
}

func (v vectors) plaintexts() map[string][]byte {
	all := map[string][]byte{}
	for _, file := range v.Files {
		all[file.Name] = bytes.Repeat([]byte(file.Plaintext.Repeat), 1+file.Plaintext.Length/len(file.Plaintext.Repeat))[:file.Plaintext.Length]
	}
	return all
}

// files writes the files of the vectors with their random values.
func (v vectors) files(t *testing.T) map[string][]byte {
	t.Helper()
	plaintexts := v.plaintexts()
	all := map[string][]byte{}
	for _, file := range v.Files {
		line := v.Envelope + "\n"
		associated := sha256.Sum256([]byte(line))
		output := bytes.NewBufferString(line)
		random := bytes.NewReader(append(append([]byte(nil), file.Salt...), file.NoncePrefix...))
		writer, err := segments.NewWriter(output, random, v.DataKey, associated[:])
		must(t, err)
		_, err = writer.Write(plaintexts[file.Name])
		must(t, err)
		must(t, writer.Close())
		all[file.Name] = output.Bytes()
	}
	return all
}

// client returns a client of a service that answers the two calls of sealed files with the data key of the vectors.
func (v vectors) client(t *testing.T, options sealward.Options) *sealward.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		body := map[string]any{"requestId": "req_1", "operations": []string{"decrypt"}, "payload": v.DataKey}
		if request.URL.Path == "/api/v1/data-keys" {
			body = map[string]any{"requestId": "req_1", "algorithm": "AES-256", "key": v.DataKey, "jwe": json.RawMessage(v.Envelope)}
		}
		must(t, json.NewEncoder(answer).Encode(body))
	}))
	t.Cleanup(server.Close)
	options.URL, options.Credentials = server.URL, sealward.APIKey("sk_test_files")
	client, err := sealward.New(options)
	must(t, err)
	t.Cleanup(client.Close)
	return client
}

func TestFilesOfTheVectorsAreWritten(t *testing.T) {
	vectors := readVectors(t)
	files := vectors.files(t)
	for _, file := range vectors.Files {
		written := files[file.Name]
		if sum := sha256.Sum256(written); len(written) != file.Size || hex.EncodeToString(sum[:]) != file.SHA256 {
			t.Errorf("%s: %d bytes with the hash %x, want %d with %s", file.Name, len(written), sum, file.Size, file.SHA256)
		}
	}
}

func TestFilesOfTheVectorsAreRead(t *testing.T) {
	vectors := readVectors(t)
	client := vectors.client(t, sealward.Options{})
	plaintexts := vectors.plaintexts()
	for name, file := range vectors.files(t) {
		reader, err := client.NewDecryptReader(context.Background(), bytes.NewReader(file), sealward.FileOptions{})
		must(t, err)
		got, err := io.ReadAll(reader)
		if err != nil || !bytes.Equal(got, plaintexts[name]) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestBrokenFilesAreRefused(t *testing.T) {
	vectors := readVectors(t)
	client := vectors.client(t, sealward.Options{})
	files, plaintexts := vectors.files(t), vectors.plaintexts()
	kinds := map[string]sealward.Kind{"malformed": sealward.ErrMalformedFile, "notAuthentic": sealward.ErrFileNotAuthentic}
	for _, broken := range vectors.Broken {
		file := files[broken.Of]
		for _, edit := range broken.Edits {
			file = edit.apply(file)
		}
		var got []byte
		reader, err := client.NewDecryptReader(context.Background(), bytes.NewReader(file), sealward.FileOptions{})
		if err == nil {
			got, err = io.ReadAll(reader)
		}
		if !errors.Is(err, kinds[broken.Error]) {
			t.Errorf("%s: %v, want %s", broken.Name, err, broken.Error)
		}
		if !bytes.Equal(got, plaintexts[broken.Of][:broken.Authentic]) {
			t.Errorf("%s: %d bytes, want %d", broken.Name, len(got), broken.Authentic)
		}
		target := filepath.Join(t.TempDir(), "target")
		must(t, os.WriteFile(target, []byte("before"), 0o600))
		source := filepath.Join(filepath.Dir(target), "source")
		must(t, os.WriteFile(source, file, 0o600))
		if err := client.DecryptFile(context.Background(), source, target, sealward.FileOptions{}); !errors.Is(err, kinds[broken.Error]) {
			t.Errorf("%s: DecryptFile: %v", broken.Name, err)
		}
		left, err := os.ReadFile(target)
		must(t, err)
		entries, err := os.ReadDir(filepath.Dir(target))
		must(t, err)
		if string(left) != "before" || len(entries) != 2 {
			t.Errorf("%s: the folder has %d files, and the target %q", broken.Name, len(entries), left)
		}
	}
}

// A sealed file of any size needs the memory of two segments.
func TestFilesNeedConstantMemory(t *testing.T) {
	const size = 64 << 20
	client := readVectors(t).client(t, sealward.Options{})
	folder := t.TempDir()
	plain, sealed, opened := filepath.Join(folder, "plain"), filepath.Join(folder, "sealed"), filepath.Join(folder, "opened")
	must(t, os.WriteFile(plain, bytes.Repeat([]byte("0123456789abcdef"), size/16), 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var reported []string
	options := sealward.FileOptions{Progress: func(done, total int64) { reported = append(reported, fmt.Sprint(done, "/", total)) }}
	must(t, client.EncryptFile(context.Background(), plain, sealed, options))
	if last := reported[len(reported)-1]; last != fmt.Sprint(size, "/", size) {
		t.Errorf("the last progress is %s", last)
	}
	must(t, client.DecryptFile(context.Background(), sealed, opened, sealward.FileOptions{}))
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8<<20 {
		t.Errorf("%d bytes were allocated for a file of %d bytes", allocated, size)
	}
	want, err := os.ReadFile(plain)
	must(t, err)
	got, err := os.ReadFile(opened)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Error("the file that was opened differs")
	}
}

func TestFilesShareACachedDataKey(t *testing.T) {
	cache := &sealward.DataKeyCache{MaxAge: 1 << 40, MaxMessages: 10, MaxBytes: 1 << 30}
	client := readVectors(t).client(t, sealward.Options{DataKeyCache: cache})
	for count := 0; count < 3; count++ {
		var sealed strings.Builder
		writer, err := client.NewEncryptWriter(context.Background(), &sealed, sealward.FileOptions{})
		must(t, err)
		_, err = io.WriteString(writer, "text")
		must(t, err)
		must(t, writer.Close())
		reader, err := client.NewDecryptReader(context.Background(), strings.NewReader(sealed.String()), sealward.FileOptions{})
		must(t, err)
		got, err := io.ReadAll(reader)
		if err != nil || string(got) != "text" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if counters := client.DataKeyCacheCounters(); counters.Misses != 2 || counters.Hits != 4 {
		t.Errorf("%+v", counters)
	}
}
