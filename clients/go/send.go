package sealward

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// firstPause bounds the random pause after the first attempt. Each further attempt doubles it.
const firstPause = 100 * time.Millisecond

// Request is a request to an endpoint of the service.
type Request struct {
	Method string
	// Path begins with a slash, is escaped, and can have a query.
	Path   string
	Header http.Header
	// Body is JSON, or nil. Header can state another content type.
	Body []byte
	// Anonymous leaves the credential out.
	Anonymous bool
}

// Response is a successful answer of the service.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Send sends a request to an endpoint for which this module has no method. It authenticates, repeats and fails as all
// calls do. The service must answer a repeat of the request like the first one.
func (c *Client) Send(ctx context.Context, request Request) (*Response, error) {
	ctx, cancel := c.withDeadline(ctx)
	defer cancel()
	return c.retry(ctx, func() (*Response, error) {
		answer, err := c.attempt(ctx, request)
		if err != nil {
			return nil, err
		}
		return c.complete(ctx, answer)
	})
}

// Stream sends a request like [Client.Send], and returns the body of the answer while it arrives. The deadline of the
// client ends with the head of the answer; after it, ctx alone bounds the stream. The caller closes it.
func (c *Client) Stream(ctx context.Context, request Request) (io.ReadCloser, error) {
	head, release := c.withDeadline(ctx)
	defer release()
	ctx, cancel := context.WithCancel(ctx)
	end, _ := head.Deadline()
	deadline := time.AfterFunc(time.Until(end), cancel)
	var stream io.ReadCloser
	_, err := c.retry(head, func() (*Response, error) {
		answer, err := c.attempt(ctx, request)
		if err != nil {
			return nil, err
		}
		if answer.StatusCode >= http.StatusMultipleChoices {
			return c.complete(ctx, answer)
		}
		stream = answer.Body
		return &Response{Status: answer.StatusCode, Header: answer.Header}, nil
	})
	if !deadline.Stop() {
		err = &Error{Kind: ErrDeadlineExceeded, cause: context.DeadlineExceeded}
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &streamBody{client: c, ctx: ctx, cancel: cancel, body: stream}, nil
}

// streamBody gives failures of the connection their kind.
type streamBody struct {
	client *Client
	ctx    context.Context
	cancel context.CancelFunc
	body   io.ReadCloser
}

func (s *streamBody) Read(buffer []byte) (int, error) {
	count, err := s.body.Read(buffer)
	if err != nil && err != io.EOF {
		err = s.client.broken(s.ctx, err)
	}
	return count, err
}

func (s *streamBody) Close() error {
	s.cancel()
	return s.body.Close()
}

// withDeadline applies the deadline of the client, unless ctx has its own.
func (c *Client) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, bounded := ctx.Deadline(); bounded {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.timeout)
}

// retry repeats an attempt while its outcome allows it and the deadline of ctx leaves time.
func (c *Client) retry(ctx context.Context, attempt func() (*Response, error)) (*Response, error) {
	for number := 1; ; number++ {
		response, err := attempt()
		if err == nil {
			if response.Status < http.StatusMultipleChoices {
				return response, nil
			}
			err = response.refusal()
		}
		var failed *Error
		if !errors.As(err, &failed) || !failed.repeatable() || number == c.maxAttempts {
			return nil, err
		}
		pause := time.Duration(rand.Int63n(int64(firstPause << (number - 1))))
		if response != nil {
			if stated, ok := retryAfter(response.Header, time.Now()); ok {
				pause = stated
			}
		}
		if pause > c.maxRetryAfter {
			pause = c.maxRetryAfter
		}
		if !wait(ctx, pause) {
			return nil, err
		}
	}
}

func (e *Error) repeatable() bool { return e.Retryable() && e.Kind != ErrDeadlineExceeded }

// attempt sends a request once.
func (c *Client) attempt(ctx context.Context, request Request) (*http.Response, error) {
	var body io.Reader
	if request.Body != nil {
		body = bytes.NewReader(request.Body)
	}
	outgoing, err := http.NewRequestWithContext(ctx, request.Method, c.base+request.Path, body)
	if err != nil {
		return nil, err
	}
	// The transport must not repeat on its own account: this package counts the attempts.
	outgoing.GetBody = nil
	if request.Body != nil {
		outgoing.Header["Content-Type"] = jsonContent
	}
	outgoing.Header["User-Agent"] = userAgent
	for name, values := range request.Header {
		outgoing.Header[name] = values
	}
	if id := requestID(ctx); id != "" {
		if !isPrintable(id) {
			return nil, refuse(ErrInvalidRequest, "the request ID has characters other than printable ones of ASCII")
		}
		outgoing.Header.Set("X-Request-Id", id)
	}
	if c.traceparent != nil {
		if parent := c.traceparent(ctx); parent != "" {
			outgoing.Header.Set("Traceparent", parent)
		}
	}
	if c.credentials == nil && !c.isCertified && !request.Anonymous {
		return nil, refuse(ErrCredentialUnavailable, "the client has neither credentials nor a client certificate")
	}
	if c.credentials != nil && !request.Anonymous {
		bearer, err := c.credentials.Bearer(ctx)
		if err != nil {
			return nil, &Error{Kind: ErrCredentialUnavailable, cause: err}
		}
		if bearer == "" || strings.Contains(bearer, " ") || !isPrintable(bearer) {
			return nil, refuse(ErrCredentialUnavailable, "the credential is empty, or has a character that no credential has")
		}
		outgoing.Header["Authorization"] = []string{"Bearer " + bearer}
	}
	answer, err := c.http.Do(outgoing)
	if err != nil {
		return nil, c.broken(ctx, withoutAddress(err))
	}
	return answer, nil
}

func isPrintable(text string) bool {
	for index := 0; index < len(text); index++ {
		if text[index] < ' ' || text[index] > '~' {
			return false
		}
	}
	return true
}

func withoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// largestGuess is the most memory that complete reserves because of the length that an answer states.
const largestGuess = 1 << 20

// complete reads the rest of an answer.
func (c *Client) complete(ctx context.Context, answer *http.Response) (*Response, error) {
	defer answer.Body.Close()
	var body bytes.Buffer
	if stated := answer.ContentLength; stated > 0 {
		if stated > largestGuess {
			stated = largestGuess
		}
		// ReadFrom grows a buffer that has less than MinRead left.
		body.Grow(int(stated) + bytes.MinRead)
	}
	_, err := body.ReadFrom(answer.Body)
	if err == nil && int64(body.Len()) < answer.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	return &Response{Status: answer.StatusCode, Header: answer.Header, Body: body.Bytes()}, nil
}

// retryAfter returns the pause that the service asks for.
func retryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(text); err == nil {
		if date.Before(now) {
			return 0, true
		}
		return date.Sub(now), true
	}
	return 0, false
}

// wait pauses, and reports whether time is left after the pause. It returns at once if none will be.
func wait(ctx context.Context, pause time.Duration) bool {
	if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) <= pause {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
