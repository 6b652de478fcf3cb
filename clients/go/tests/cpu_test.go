package tests

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sealward.dev/go"
)

const (
	connections = 16
	// serverVariable makes this program the server of the benchmark, whose CPU time does not count.
	serverVariable = "SEALWARD_BENCHMARK_SERVER"
)

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) == "" {
		os.Exit(m.Run())
	}
	part := strings.Repeat("A", 512)
	answer := fmt.Sprintf(`{"requestId":"req_1","messageType":"ProtectedPayload","operations":["encrypt"],"jwe":{"protected":"%s",`+
		`"encrypted_key":"%s","iv":"AAAAAAAAAAAAAAAA","ciphertext":"%s","tag":"AAAAAAAAAAAAAAAAAAAAAA"}}`, part[:150], part, part[:100])
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			_, _ = io.Copy(io.Discard, request.Body)
			writer.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(writer, answer)
		}))
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// BenchmarkCPU measures the CPU time of a call of Protect against that of a bare net/http client, which encodes the same
// body and decodes the same answer. Run it with -benchtime=20000x.
func BenchmarkCPU(b *testing.B) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serverVariable+"=1")
	input, err := command.StdinPipe()
	check(b, err)
	output, err := command.StdoutPipe()
	check(b, err)
	check(b, command.Start())
	defer func() {
		input.Close()
		check(b, command.Wait())
	}()
	line, err := bufio.NewReader(output).ReadString('\n')
	check(b, err)
	url := strings.TrimSpace(line)
	payload := map[string]string{"card": "4111 1111 1111 1111", "name": "A. Customer"}

	client, err := sealward.New(sealward.Options{URL: url, Credentials: sealward.APIKey("sk_test_cpu")})
	check(b, err)
	bare := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	for round := 0; round < 3; round++ {
		b.Run("bare", func(b *testing.B) {
			measure(b, func() error { return callBare(bare, url, payload) })
		})
		b.Run("client", func(b *testing.B) {
			measure(b, func() error {
				_, err := client.Protect(context.Background(), sealward.ProtectRequest{Payload: payload})
				return err
			})
		})
	}
}

func callBare(client *http.Client, url string, payload any) error {
	body, err := json.Marshal(map[string]any{"payload": payload})
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, url+"/api/v1/protect", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer sk_test_cpu")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var answer struct {
		JWE map[string]string `json:"jwe"`
	}
	return json.Unmarshal(text, &answer)
}

func measure(b *testing.B, call func() error) {
	before := cpuTime(b)
	left := int64(b.N)
	var group sync.WaitGroup
	for worker := 0; worker < connections; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for atomic.AddInt64(&left, -1) >= 0 {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		}()
	}
	group.Wait()
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N)/1000, "cpu-µs/op")
}

// cpuTime is that of this process.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
