package tests

import (
	"context"
	"errors"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sealward.dev/go"
)

const card = "4111 1111 1111 1111"

type unwilling struct{}

func (unwilling) MarshalJSON() ([]byte, error) { return nil, errors.New(card) }

// What the library refuses itself is an *Error, whose text does not contain the payload.
func TestValueThatJSONCannotRepresentIsRefused(t *testing.T) {
	client, err := sealward.New(sealward.Options{URL: "http://127.0.0.1:9", Credentials: sealward.APIKey("sk_test_x")})
	must(t, err)
	for name, payload := range map[string]any{
		"NaN":            []any{card, math.NaN()},
		"infinity":       map[string]any{card: math.Inf(-1)},
		"a channel":      make(chan int),
		"a function":     []any{card, func() {}},
		"raw JSON":       sealward.JSON(card),
		"a failed value": unwilling{},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			_, err := client.Protect(ctx, sealward.ProtectRequest{Payload: payload})
			requireInvalid(t, err)
			_, err = client.ProtectBatch(ctx, []sealward.ProtectRequest{{Payload: payload}})
			requireInvalid(t, err)
			_, err = client.SealLocally(ctx, sealward.ProtectRequest{Payload: payload})
			requireInvalid(t, err)
			_, err = client.Sign(ctx, sealward.SignRequest{Data: payload, Algorithm: "Ed25519"})
			requireInvalid(t, err)
		})
	}
}

// A length that is not that of the answer neither reserves memory nor ends the program.
func TestAnswerWithAFalseLengthIsAnError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = connection.Read(make([]byte, 4096))
			_, _ = connection.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\n{}"))
			connection.Close()
		}
	}()
	client, err := sealward.New(sealward.Options{URL: "http://" + listener.Addr().String(), Credentials: sealward.APIKey("sk_test_x")})
	must(t, err)
	_, err = client.Send(context.Background(), sealward.Request{Method: "GET", Path: "/api/v1/caller"})
	var broken *sealward.Error
	if !errors.As(err, &broken) {
		t.Errorf("%v", err)
	}
}

func TestTextThatIsNoEnvelopeIsRefused(t *testing.T) {
	for _, text := range []string{"", "{", "a b"} {
		_, err := sealward.ParseEnvelope(text)
		requireInvalid(t, err)
	}
	var envelope sealward.Envelope
	requireInvalid(t, envelope.Scan(1))
}

func TestFilesThatAreNoCertificatesAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file.pem")
	must(t, os.WriteFile(file, []byte("no certificate"), 0o600))
	for _, options := range []sealward.Options{{CAFile: file}, {CertificateFile: file, KeyFile: file}, {CertificateFile: file + ".missing"}} {
		options.URL = "https://localhost"
		if _, err := sealward.New(options); !errors.Is(err, sealward.ErrInvalidConfiguration) {
			t.Errorf("%+v: %v", options, err)
		}
	}
}

func requireInvalid(t *testing.T, err error) {
	t.Helper()
	var failed *sealward.Error
	if !errors.As(err, &failed) || failed.Kind != sealward.ErrInvalidRequest || failed.Status != 0 {
		t.Errorf("%v is not the error of an invalid request", err)
	} else if strings.Contains(err.Error(), card) {
		t.Errorf("%q contains the payload", err)
	}
}
