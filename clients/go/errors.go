package sealward

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Kind is a kind of error. Kinds are targets of [errors.Is]:
//
//	if errors.Is(err, sealward.ErrPolicyNotActive) { … }
type Kind string

// The kinds of errors that an answer of the service has.
const (
	ErrInvalidRequest       Kind = "invalid request"
	ErrAuthenticationFailed Kind = "authentication failed"
	ErrNotAllowed           Kind = "not allowed"
	ErrPolicyNotActive      Kind = "policy not active"
	ErrFrozen               Kind = "frozen"
	ErrNotFound             Kind = "not found"
	ErrConflict             Kind = "conflict"
	ErrPreconditionFailed   Kind = "precondition failed"
	ErrPayloadTooLarge      Kind = "payload too large"
	ErrRateLimited          Kind = "rate limited"
	// ErrDecryptionFailed says that an envelope or a ciphertext cannot be opened. A repeat does not help.
	ErrDecryptionFailed Kind = "decryption failed"
	// ErrServer is another error of the status 500.
	ErrServer Kind = "server error"
	// ErrUnavailable is an error of the status 502, 503 or 504.
	ErrUnavailable Kind = "unavailable"
	// ErrAPI is any other error status.
	ErrAPI Kind = "error status"
)

// The kinds of errors without an answer, or with a successful one.
const (
	ErrConnectionFailed Kind = "connection failed"
	// ErrDeadlineExceeded is an error of [context.DeadlineExceeded] too.
	ErrDeadlineExceeded Kind = "deadline exceeded"
	// ErrCanceled is an error of [context.Canceled] too.
	ErrCanceled Kind = "canceled"
	// ErrUnexpectedAnswer says that an answer is not of the documented form.
	ErrUnexpectedAnswer Kind = "unexpected answer"
	// ErrNotProtected says that an inactive policy passed the payload through or dropped it, so there is no envelope.
	ErrNotProtected Kind = "not protected"
	// ErrInvalidConfiguration says that no client can be made with these options.
	ErrInvalidConfiguration Kind = "invalid configuration"
	// ErrCredentialUnavailable says that a credential cannot be read or cannot be sent.
	ErrCredentialUnavailable Kind = "credential unavailable"
	// ErrKeyUnavailable says that a policy has no key, or that a service publishes no fitting key.
	ErrKeyUnavailable Kind = "key unavailable"
	// ErrUnsupportedAlgorithm says that this library does not have an algorithm. The service may have it.
	ErrUnsupportedAlgorithm Kind = "unsupported algorithm"
	// ErrContextRequired says that local sealing is not possible, because the envelope needs a context.
	ErrContextRequired Kind = "context required"
	// ErrMalformedFile says that a file does not begin as a sealed file does.
	ErrMalformedFile Kind = "malformed file"
	// ErrFileNotAuthentic says that a sealed file was truncated, extended or changed.
	ErrFileNotAuthentic Kind = "file not authentic"
)

// Error makes a kind a target of [errors.Is].
func (k Kind) Error() string { return string(k) }

// Detail is one problem of a request.
type Detail struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error is the error of all calls. It contains neither credentials nor payloads.
type Error struct {
	Kind Kind
	// Code is the code of the service, such as POLICY_NOT_FOUND, or empty.
	Code string
	// Status is the HTTP status, or 0 without an answer.
	Status    int
	Message   string
	RequestID string
	Details   []Detail
	// RetryAfter is the time after which the service accepts a repeat, if it states one.
	RetryAfter time.Duration

	cause error
}

func (e *Error) Error() string {
	text := "sealward: " + string(e.Kind)
	if e.Status != 0 {
		text += fmt.Sprintf(" (%d %s)", e.Status, e.Code)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	for _, detail := range e.Details {
		text += fmt.Sprintf("; %s: %s", detail.Field, detail.Message)
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	if e.Kind == ErrDecryptionFailed {
		text += "; this is final, a repeat does not help"
	}
	if e.RequestID != "" {
		text += " [request " + e.RequestID + "]"
	}
	return text
}

// Is reports whether target is the kind of this error.
func (e *Error) Is(target error) bool {
	kind, isKind := target.(Kind)
	return isKind && kind == e.Kind
}

// Unwrap returns what a connection or a credential failed with, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Retryable reports whether the same call can succeed later. The client has already repeated it.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case ErrRateLimited, ErrUnavailable, ErrConnectionFailed, ErrDeadlineExceeded:
		return true
	}
	return false
}

// errorBody is the member error of a refused request, or of a refused item of a batch.
type errorBody struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Details []Detail `json:"details"`
}

func (b *errorBody) refusal(status int, requestID string) *Error {
	return &Error{
		Kind: kindOf(status, b.Code), Code: b.Code, Status: status,
		Message: b.Message, RequestID: requestID, Details: b.Details,
	}
}

// refusal returns the error of an answer that is not a success.
func (r *Response) refusal() *Error {
	if r.Status < http.StatusBadRequest {
		return r.unexpected("a redirection")
	}
	var body struct {
		Error     errorBody `json:"error"`
		RequestID string    `json:"requestId"`
	}
	// A proxy in front of the service answers something else, which has no code.
	_ = json.Unmarshal(r.Body, &body)
	if body.RequestID == "" {
		body.RequestID = r.Header.Get("X-Request-Id")
	}
	refused := body.Error.refusal(r.Status, body.RequestID)
	refused.RetryAfter, _ = retryAfter(r.Header, time.Now())
	return refused
}

func (r *Response) unexpected(message string) *Error {
	return &Error{Kind: ErrUnexpectedAnswer, Status: r.Status, Message: message, RequestID: r.Header.Get("X-Request-Id")}
}

func kindOf(status int, code string) Kind {
	switch code {
	case "POLICY_NOT_ACTIVE":
		return ErrPolicyNotActive
	case "SERVICE_FROZEN":
		return ErrFrozen
	case "DECRYPTION_FAILED":
		return ErrDecryptionFailed
	}
	switch status {
	case http.StatusBadRequest:
		return ErrInvalidRequest
	case http.StatusUnauthorized:
		return ErrAuthenticationFailed
	case http.StatusForbidden:
		return ErrNotAllowed
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusConflict:
		return ErrConflict
	case http.StatusPreconditionFailed:
		return ErrPreconditionFailed
	case http.StatusRequestEntityTooLarge:
		return ErrPayloadTooLarge
	case http.StatusTooManyRequests:
		return ErrRateLimited
	case http.StatusInternalServerError:
		return ErrServer
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ErrUnavailable
	}
	return ErrAPI
}

// opening returns the error of a call that opens an envelope, where INTERNAL_ERROR says that it cannot be opened.
func opening(err error) error {
	var refused *Error
	if errors.As(err, &refused) && refused.Kind == ErrServer && refused.Code == "INTERNAL_ERROR" {
		final := *refused
		final.Kind = ErrDecryptionFailed
		return &final
	}
	return err
}

// broken returns the error of a request without a complete answer.
func broken(ctx context.Context, err error) *Error {
	kind := ErrConnectionFailed
	if ended := ctx.Err(); ended != nil {
		err, kind = ended, ErrDeadlineExceeded
		if ended == context.Canceled {
			kind = ErrCanceled
		}
	}
	return &Error{Kind: kind, cause: err}
}

// broken returns the error of a request to this service without a complete answer.
func (c *Client) broken(ctx context.Context, err error) *Error {
	failed := broken(ctx, err)
	if failed.Kind == ErrConnectionFailed {
		failed.Message = "no complete answer from " + c.origin
	}
	return failed
}

func refuse(kind Kind, message string) *Error { return &Error{Kind: kind, Message: message} }
