package sealward

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// DefaultTimeout is the total deadline of a call with all its attempts.
const DefaultTimeout = 30 * time.Second

const (
	defaultAttempts   = 3
	defaultRetryAfter = 10 * time.Second
)

// Options configure a [Client]. URL is required. Without Credentials and without a client certificate, a client can only
// read public keys; other calls are [ErrCredentialUnavailable].
type Options struct {
	// URL is the base address of the service, for example https://sealward.example.
	URL string
	// Credentials authenticate each request: [APIKey], [APIKeyFile], [TokenFile] or your own.
	Credentials Credentials
	// AllowPlaintext allows http:// also to other machines, for example to a proxy in the same pod. Whoever reads the network
	// then reads the credential and the payloads.
	AllowPlaintext bool
	// Timeout is the total deadline of a call with all its attempts, unless the context of the call has a deadline. The
	// default is [DefaultTimeout].
	Timeout time.Duration
	// MaxAttempts is the number of times that a call is sent at most. The default is 3.
	MaxAttempts int
	// MaxRetryAfter bounds the pause that the service asks for. The default is 10 seconds.
	MaxRetryAfter time.Duration
	// CAFile names a PEM file with the certificate authorities that the client trusts instead of those of the system.
	CAFile string
	// CertificateFile and KeyFile name the PEM files of a client certificate. They are read again when they change.
	CertificateFile, KeyFile string
	// Transport replaces the HTTP transport, and with it CAFile, CertificateFile and KeyFile.
	Transport http.RoundTripper
	// Traceparent returns the W3C traceparent of the current span, or "". The README shows it for OpenTelemetry.
	Traceparent func(context.Context) string
	// DataKeyCache bounds the reuse of data keys. Without it, none is used again.
	DataKeyCache *DataKeyCache
}

// Client calls the runtime API of one service.
type Client struct {
	base string
	// origin is the scheme, the host and the port of the address.
	origin      string
	credentials Credentials
	// isCertified says that the transport can authenticate without credentials.
	isCertified   bool
	timeout       time.Duration
	maxAttempts   int
	maxRetryAfter time.Duration
	http          *http.Client
	traceparent   func(context.Context) string
	dataKeys      *dataKeyStore
	policies      policyLookups
	// keys are the published keys of services, by the IDs of the services.
	keys sync.Map
}

// New returns a client. It does not connect.
func New(options Options) (*Client, error) {
	base, origin, err := addressOf(options.URL, options.AllowPlaintext)
	if err != nil {
		return nil, err
	}
	transport := options.Transport
	if transport == nil {
		if transport, err = newTransport(options); err != nil {
			return nil, err
		}
	}
	return &Client{
		base:          base,
		origin:        origin,
		credentials:   options.Credentials,
		isCertified:   options.CertificateFile != "" || options.Transport != nil,
		timeout:       orDefault(options.Timeout, DefaultTimeout),
		maxAttempts:   orDefault(options.MaxAttempts, defaultAttempts),
		maxRetryAfter: orDefault(options.MaxRetryAfter, defaultRetryAfter),
		http:          &http.Client{Transport: transport, CheckRedirect: refuseRedirect},
		traceparent:   options.Traceparent,
		dataKeys:      newDataKeyStore(options.DataKeyCache),
	}, nil
}

// NewFromEnvironment returns a client as SEALWARD_URL, SEALWARD_CA_FILE and the variables of [CredentialsFromEnvironment]
// describe it.
func NewFromEnvironment() (*Client, error) {
	address := os.Getenv("SEALWARD_URL")
	if address == "" {
		return nil, refuse(ErrInvalidConfiguration, "SEALWARD_URL is not set")
	}
	credentials, err := CredentialsFromEnvironment()
	if err != nil {
		return nil, err
	}
	return New(Options{
		URL:         address,
		Credentials: credentials,
		CAFile:      os.Getenv("SEALWARD_CA_FILE"),
	})
}

// Close closes idle connections and wipes cached data keys.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.dataKeys.wipe()
}

// String shows the address alone.
func (c *Client) String() string { return "sealward.Client(" + c.base + ")" }

// GoString shows the address alone.
func (c *Client) GoString() string { return c.String() }

// addressOf returns the base of all addresses, and its scheme, host and port.
func addressOf(text string, allowPlaintext bool) (base, origin string, err error) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "https" && parsed.Scheme != "http") {
		return "", "", refuse(ErrInvalidConfiguration, "URL is not an http or https address")
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return "", "", refuse(ErrInvalidConfiguration, "URL of "+parsed.Host+" has credentials, a query or a fragment")
	}
	if parsed.Scheme == "http" && !allowPlaintext && !isThisMachine(parsed.Hostname()) {
		return "", "", refuse(ErrInvalidConfiguration, "URL of "+parsed.Host+" must begin with https://, except for this machine")
	}
	return strings.TrimRight(parsed.String(), "/"), parsed.Scheme + "://" + parsed.Host, nil
}

func isThisMachine(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}

func orDefault[T int | time.Duration](value, standard T) T {
	if value <= 0 {
		return standard
	}
	return value
}

// A redirect would carry the credential elsewhere.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
