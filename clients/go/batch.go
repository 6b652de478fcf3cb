package sealward

import (
	"context"
	"encoding/json"
	"net/http"
)

const (
	// maxBatchItems is the number of items that the service accepts in a batch.
	maxBatchItems = 1000
	// maxBatchBytes leaves room below the limit of 16 MiB for the frame of the body.
	maxBatchBytes = 15 << 20
)

// Result is the outcome of one item of a batch.
type Result[T any] struct {
	Value T
	// Err is that of the single call. A refused item does not affect the others.
	Err error
}

// ProtectBatch seals payloads. The results have the order of the requests. Requests beyond the limits of the service are
// sent in several batches.
func (c *Client) ProtectBatch(ctx context.Context, requests []ProtectRequest) ([]Result[Protected], error) {
	outcomes, err := c.ProtectBatchOrPass(ctx, requests)
	if err != nil {
		return nil, err
	}
	results := make([]Result[Protected], len(outcomes))
	for index, outcome := range outcomes {
		if results[index].Err = outcome.Err; outcome.Err == nil {
			results[index].Value, results[index].Err = onlyProtected(outcome.Value)
		}
	}
	return results, nil
}

// ProtectBatchOrPass seals payloads like [Client.ProtectBatch], with the outcomes of [Client.ProtectOrPass].
func (c *Client) ProtectBatchOrPass(ctx context.Context, requests []ProtectRequest) ([]Result[Protection], error) {
	return batch(ctx, c, "/api/v1/protect/batch", requests, sealingAnswer.protection)
}

// UnprotectBatch opens envelopes, in the order of the requests.
func (c *Client) UnprotectBatch(ctx context.Context, requests []UnprotectRequest) ([]Result[Payload], error) {
	return openingBatch(ctx, c, "/api/v1/unprotect/batch", requests, openingAnswer.opened)
}

// RewrapBatch seals envelopes again, in the order of the requests.
func (c *Client) RewrapBatch(ctx context.Context, requests []RewrapRequest) ([]Result[Protected], error) {
	return openingBatch(ctx, c, "/api/v1/rewrap/batch", requests, sealingAnswer.protected)
}

type batchItem interface{ body() ([]byte, error) }

// reading returns the outcome of an item from its answer, the answer of the batch and its request ID.
type reading[A, T any] func(answer A, response *Response, requestID string) (T, error)

func openingBatch[I batchItem, A, T any](
	ctx context.Context, client *Client, path string, items []I, read reading[A, T],
) ([]Result[T], error) {
	results, err := batch(ctx, client, path, items, read)
	for index := range results {
		results[index].Err = opening(results[index].Err)
	}
	return results, opening(err)
}

// batch sends items in as few batches as the limits of the service allow.
func batch[I batchItem, A, T any](
	ctx context.Context, client *Client, path string, items []I, read reading[A, T],
) ([]Result[T], error) {
	ctx, cancel := client.withDeadline(ctx)
	defer cancel()
	results := make([]Result[T], 0, len(items))
	var body []byte
	count := 0
	send := func() error {
		answers, err := sendBatch(ctx, client, path, append(body, "]}"...), count, read)
		results = append(results, answers...)
		body, count = nil, 0
		return err
	}
	for _, item := range items {
		text, err := item.body()
		if err != nil {
			return nil, err
		}
		if count == maxBatchItems || count > 0 && len(body)+len(text) > maxBatchBytes {
			if err := send(); err != nil {
				return nil, err
			}
		}
		if count == 0 {
			body = append(body, `{"items":[`...)
		} else {
			body = append(body, ',')
		}
		body = append(body, text...)
		count++
	}
	if count > 0 {
		if err := send(); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func sendBatch[A, T any](
	ctx context.Context, client *Client, path string, body []byte, count int, read reading[A, T],
) ([]Result[T], error) {
	response, err := client.Send(ctx, Request{Method: http.MethodPost, Path: path, Body: body})
	if err != nil {
		return nil, err
	}
	var answer batchAnswer
	if err := response.Decode(&answer); err != nil {
		return nil, err
	}
	if len(answer.Items) != count {
		return nil, response.unexpected("a batch with another number of items")
	}
	results := make([]Result[T], count)
	for index, text := range answer.Items {
		results[index] = readItem(text, response, answer.RequestID, read)
	}
	return results, nil
}

type batchAnswer struct {
	RequestID string            `json:"requestId"`
	Items     []json.RawMessage `json:"items"`
}

// itemOutcome is what the answer of each item has.
type itemOutcome struct {
	Status int        `json:"status"`
	Error  *errorBody `json:"error"`
}

func readItem[A, T any](text []byte, response *Response, requestID string, read reading[A, T]) (result Result[T]) {
	var outcome itemOutcome
	var answer A
	switch {
	case json.Unmarshal(text, &outcome) != nil || json.Unmarshal(text, &answer) != nil:
		result.Err = response.unexpected("an item is not the documented JSON")
	case outcome.Error != nil:
		result.Err = outcome.Error.refusal(outcome.Status, requestID)
	default:
		result.Value, result.Err = read(answer, response, requestID)
	}
	return result
}
