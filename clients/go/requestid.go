package sealward

import "context"

type requestIDKey struct{}

// ContextWithRequestID returns a context whose calls carry id as X-Request-Id, so that the audit log of the service and
// the log of the application name a request alike.
func ContextWithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
