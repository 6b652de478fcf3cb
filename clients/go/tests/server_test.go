// Package tests runs the conformance cases of clients/conformance, and live tests against a real service.
package tests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const serverProgram = "../../conformance/server.py"

// scriptedServer is the server of the conformance cases.
type scriptedServer struct{ address string }

// startServer starts the server for one test. SEALWARD_CONFORMANCE names its program if it is elsewhere, SEALWARD_OPENAPI
// the OpenAPI document that it compares with, and SEALWARD_WORLD the real service of the live cases, as world.py writes it.
func startServer(t *testing.T) scriptedServer {
	t.Helper()
	program := os.Getenv("SEALWARD_CONFORMANCE")
	if program == "" {
		program = serverProgram
	}
	arguments := []string{program}
	for option, variable := range map[string]string{"--openapi": "SEALWARD_OPENAPI", "--service": "SEALWARD_WORLD"} {
		if file := os.Getenv(variable); file != "" {
			arguments = append(arguments, option, file)
		}
	}
	command := exec.Command("python3", arguments...)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	must(t, err)
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		input.Close()
		must(t, command.Wait())
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	return scriptedServer{strings.TrimSpace(line)}
}

// post sends a control request and stores the answer.
func (s scriptedServer) post(t *testing.T, path string, body, answer any) {
	t.Helper()
	text, err := json.Marshal(body)
	must(t, err)
	response, err := http.Post(s.address+"/_conformance/"+path, "application/json", bytes.NewReader(text))
	must(t, err)
	s.read(t, response, answer)
}

func (s scriptedServer) get(t *testing.T, path string, answer any) {
	t.Helper()
	response, err := http.Get(s.address + "/_conformance/" + path)
	must(t, err)
	s.read(t, response, answer)
}

func (s scriptedServer) read(t *testing.T, response *http.Response, answer any) {
	t.Helper()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	must(t, json.Unmarshal(text, answer))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
