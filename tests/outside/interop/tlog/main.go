// Verifies an audit log of Sealward with the packages of Go's checksum database, and nothing of Sealward.
//
// Usage: tlog-peer URL API-KEY VERIFIER-KEY [OLD-CHECKPOINT-FILE]
//
// URL is the prefix of the log, such as http://127.0.0.1:8080/admin/audit/log/operations.
package main

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// height is the height of C2SP tiles. Go's own paths contain it, those of C2SP do not.
const height = 8

type log struct {
	url, key string
}

func (l log) get(path string) []byte {
	request, err := http.NewRequest("GET", l.url+"/"+path, nil)
	check(err)
	request.Header.Set("Authorization", "Bearer "+l.key)
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	check(err)
	if response.StatusCode != http.StatusOK {
		fail("%s: %s", path, response.Status)
	}
	return body
}

func (l log) Height() int { return height }

func (l log) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var contents [][]byte
	for _, tile := range tiles {
		path := strings.TrimPrefix(tile.Path(), "tile/"+strconv.Itoa(height)+"/")
		contents = append(contents, l.get("tile/"+path))
	}
	return contents, nil
}

func (l log) SaveTiles([]tlog.Tile, [][]byte) {}

// entries returns all entries of a tree.
func (l log) entries(size int64) [][]byte {
	var entries [][]byte
	for start := int64(0); start < size; start += 1 << height {
		tile := tlog.Tile{H: height, L: 0, N: start >> height, W: 1 << height}
		if size-start < 1<<height {
			tile.W = int(size - start)
		}
		path := strings.Replace(tile.Path(), "tile/8/0/", "tile/entries/", 1)
		bundle := l.get(path)
		for len(bundle) > 0 {
			length := int(binary.BigEndian.Uint16(bundle))
			entries = append(entries, bundle[2:2+length])
			bundle = bundle[2+length:]
		}
	}
	return entries
}

// open verifies a checkpoint and returns its tree.
func open(text []byte, key string) tlog.Tree {
	verifier, err := note.NewVerifier(key)
	check(err)
	signed, err := note.Open(text, note.VerifierList(verifier))
	check(err)
	lines := strings.Split(signed.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		fail("not a checkpoint of %s: %q", verifier.Name(), signed.Text)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	root, err := base64.StdEncoding.DecodeString(lines[2])
	check(err)
	tree := tlog.Tree{N: size}
	if copy(tree.Hash[:], root) != tlog.HashSize {
		fail("not a hash: %s", lines[2])
	}
	return tree
}

func main() {
	log := log{url: os.Args[1], key: os.Args[2]}
	tree := open(log.get("checkpoint"), os.Args[3])
	hashes := tlog.TileHashReader(tree, log)
	entries := log.entries(tree.N)
	if int64(len(entries)) != tree.N {
		fail("%d entries in a tree of %d", len(entries), tree.N)
	}
	for index, entry := range entries {
		proof, err := tlog.ProveRecord(tree.N, int64(index), hashes)
		check(err)
		check(tlog.CheckRecord(proof, tree.N, tree.Hash, int64(index), tlog.RecordHash(entry)))
	}
	if len(os.Args) > 4 {
		text, err := os.ReadFile(os.Args[4])
		check(err)
		old := open(text, os.Args[3])
		proof, err := tlog.ProveTree(tree.N, old.N, hashes)
		check(err)
		check(tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash))
	}
	fmt.Printf("%d records\n", tree.N)
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}
