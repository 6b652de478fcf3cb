package tests

import (
	"errors"

	"sealward.dev/go"
)

var errorTypes = map[sealward.Kind]string{
	sealward.ErrInvalidRequest:        "InvalidRequest",
	sealward.ErrAuthenticationFailed:  "AuthenticationFailed",
	sealward.ErrNotAllowed:            "NotAllowed",
	sealward.ErrPolicyNotActive:       "PolicyNotActive",
	sealward.ErrFrozen:                "Frozen",
	sealward.ErrNotFound:              "NotFound",
	sealward.ErrConflict:              "Conflict",
	sealward.ErrPreconditionFailed:    "PreconditionFailed",
	sealward.ErrPayloadTooLarge:       "PayloadTooLarge",
	sealward.ErrRateLimited:           "RateLimited",
	sealward.ErrDecryptionFailed:      "DecryptionFailed",
	sealward.ErrServer:                "ServerError",
	sealward.ErrUnavailable:           "Unavailable",
	sealward.ErrAPI:                   "ApiError",
	sealward.ErrConnectionFailed:      "ConnectionFailed",
	sealward.ErrDeadlineExceeded:      "DeadlineExceeded",
	sealward.ErrUnexpectedAnswer:      "UnexpectedAnswer",
	sealward.ErrNotProtected:          "NotProtected",
	sealward.ErrInvalidConfiguration:  "InvalidConfiguration",
	sealward.ErrCredentialUnavailable: "CredentialUnavailable",
	sealward.ErrKeyUnavailable:        "KeyUnavailable",
	sealward.ErrUnsupportedAlgorithm:  "UnsupportedAlgorithm",
	sealward.ErrContextRequired:       "ContextRequired",
}

// describeError writes an error as clients/conformance/README.md defines it.
func describeError(err error) map[string]any {
	var failed *sealward.Error
	if !errors.As(err, &failed) {
		return map[string]any{"type": err.Error()}
	}
	described := map[string]any{
		"type": errorTypes[failed.Kind], "code": orNull(failed.Code), "status": orNull(failed.Status),
		"requestId": orNull(failed.RequestID), "retryable": failed.Retryable(),
		"retryAfterSeconds": failed.RetryAfter.Seconds(),
	}
	if failed.Details != nil {
		described["details"] = failed.Details
	}
	return described
}

func orNull[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}
