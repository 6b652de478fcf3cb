package sealward

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"sync"
)

// idleConnections is the number of connections to the service that stay open between calls.
const idleConnections = 64

func newTransport(options Options) (http.RoundTripper, error) {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: idleConnections,
		IdleConnTimeout:     idleTimeout,
		TLSHandshakeTimeout: handshakeTimeout,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if options.CAFile != "" {
		text, err := os.ReadFile(options.CAFile)
		if err != nil {
			return nil, &Error{Kind: ErrInvalidConfiguration, cause: err}
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(text) {
			return nil, refuse(ErrInvalidConfiguration, options.CAFile+" contains no PEM certificate")
		}
	}
	if options.CertificateFile != "" {
		certificate := &certificateFile{files: [2]*watchedFile{{path: options.CertificateFile}, {path: options.KeyFile}}}
		if _, err := certificate.current(nil); err != nil {
			return nil, &Error{Kind: ErrInvalidConfiguration, cause: err}
		}
		transport.TLSClientConfig.GetClientCertificate = certificate.current
	}
	return transport, nil
}

// certificateFile is a client certificate and its key, which each new connection reads again if they changed.
type certificateFile struct {
	files [2]*watchedFile

	mutex  sync.Mutex
	loaded *tls.Certificate
}

func (c *certificateFile) current(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	certificateChanged, err := c.files[0].refresh()
	if err != nil {
		return nil, err
	}
	keyChanged, err := c.files[1].refresh()
	if err != nil {
		return nil, err
	}
	if c.loaded != nil && !certificateChanged && !keyChanged {
		return c.loaded, nil
	}
	pair, err := tls.X509KeyPair(c.files[0].text, c.files[1].text)
	if err != nil {
		// The two files change one after the other. The pair of before stays in use until both fit.
		if c.loaded != nil {
			return c.loaded, nil
		}
		return nil, errors.New("the client certificate and its key do not fit")
	}
	c.loaded = &pair
	return c.loaded, nil
}
