package tests

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"

	"sealward.dev/go"
	"sealward.dev/go/admin"
)

// stepCall is a call of a case.
type stepCall step

type result = map[string]any

// perform makes the call of a step. Its result has the members that clients/conformance/README.md names.
func (s stepCall) perform(run *caseRun, client *sealward.Client) (any, error) {
	var given arguments
	if err := json.Unmarshal(s.Arguments, &given); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if given.RequestID != "" {
		ctx = sealward.ContextWithRequestID(ctx, given.RequestID)
	}
	if given.DeadlineSeconds > 0 {
		bounded, cancel := context.WithTimeout(ctx, seconds(given.DeadlineSeconds))
		defer cancel()
		ctx = bounded
	}
	call, known := calls[s.Call]
	if !known {
		return nil, fmt.Errorf("unknown call %s", s.Call)
	}
	return call(ctx, run, client, given)
}

type callOf func(context.Context, *caseRun, *sealward.Client, arguments) (any, error)

var calls = map[string]callOf{
	"protect": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		protected, err := client.Protect(ctx, given.protect())
		return protectedResult(protected), err
	},
	"protectOrPass": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		outcome, err := client.ProtectOrPass(ctx, given.protect())
		run.print(outcome)
		switch outcome := outcome.(type) {
		case sealward.Protected:
			return result{"kind": "protected", "jwe": outcome.Envelope}, err
		case sealward.PassedThrough:
			return result{"kind": "passedThrough", "payloadJson": string(outcome.Payload.JSON()), "warning": outcome.Warning}, err
		case sealward.Dropped:
			return result{"kind": "dropped", "message": outcome.Message}, err
		}
		return nil, err
	},
	"unprotect": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		payload, err := client.Unprotect(ctx, given.unprotect())
		run.print(payload)
		return payloadResult(payload), err
	},
	"unprotectBytes": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		payload, err := client.Unprotect(ctx, given.unprotect())
		if err != nil {
			return nil, err
		}
		content, err := payload.Bytes()
		return result{"bytes": content}, err
	},
	"rewrap": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		protected, err := client.Rewrap(ctx, given.rewrap())
		return protectedResult(protected), err
	},
	"dataKey": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		key, err := client.DataKey(ctx, given.dataKey())
		run.print(key)
		return keyResult(key), err
	},
	"cachedDataKey": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		key, err := client.CachedDataKey(ctx, given.dataKey(), given.Bytes)
		run.print(key)
		return keyResult(key), err
	},
	"openDataKey": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		key, err := client.OpenDataKey(ctx, given.unprotect())
		if err != nil {
			return nil, err
		}
		run.print(key)
		return result{"key": key.Bytes()}, nil
	},
	"dataKeyCacheCounters": func(_ context.Context, _ *caseRun, client *sealward.Client, _ arguments) (any, error) {
		counters := client.DataKeyCacheCounters()
		return result{"hits": counters.Hits, "misses": counters.Misses}, nil
	},
	"protectBatch": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		results, err := client.ProtectBatch(ctx, each(given.items(), item.protect))
		return batchResult(run, results, protectedResult), err
	},
	"unprotectBatch": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		results, err := client.UnprotectBatch(ctx, each(given.items(), item.unprotect))
		return batchResult(run, results, payloadResult), err
	},
	"rewrapBatch": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		results, err := client.RewrapBatch(ctx, each(given.items(), item.rewrap))
		return batchResult(run, results, protectedResult), err
	},
	"encrypt": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		return client.Encrypt(ctx, sealward.EncryptRequest{
			Data: given.data(), Algorithm: given.Algorithm, KeyID: given.KeyID, AAD: given.AAD,
		})
	},
	"decrypt": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		payload, err := client.Decrypt(ctx, given.decrypt())
		run.print(payload)
		return result{"dataJson": string(payload.JSON())}, err
	},
	"decryptBytes": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		content, err := client.DecryptBytes(ctx, given.decrypt())
		return result{"bytes": content}, err
	},
	"sign": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		return client.Sign(ctx, sealward.SignRequest{
			Data: given.data(), Algorithm: given.Algorithm, KeyID: given.KeyID, Prehashed: given.Prehashed,
			SignatureFormat: given.SignatureFormat,
		})
	},
	"verify": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		valid, err := client.Verify(ctx, given.verify())
		return result{"valid": valid}, err
	},
	"hash": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		return client.Hash(ctx, sealward.HashRequest{Data: given.data(), Algorithm: given.Algorithm})
	},
	"caller": func(ctx context.Context, _ *caseRun, client *sealward.Client, _ arguments) (any, error) {
		return client.Caller(ctx)
	},
	"policy": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		return client.Policy(ctx, given.PolicyNumber)
	},
	"health": func(ctx context.Context, _ *caseRun, client *sealward.Client, _ arguments) (any, error) {
		return client.Health(ctx)
	},
	"jwks": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		return client.JWKS(ctx, given.ServiceID)
	},
	"sealLocally": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		envelope, err := client.SealLocally(ctx, given.protect())
		if err != nil {
			return nil, err
		}
		return headerOf(envelope)
	},
	"verifyLocally": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		valid, err := client.VerifyLocally(ctx, given.ServiceID, given.verify())
		return result{"valid": valid}, err
	},
	"listServices": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		pager := admin.New(client).Services.List(admin.ServiceFilter{Limit: given.Limit, Name: given.Name, NameContains: given.NameContains})
		ids := []string{}
		for pager.Next(ctx) {
			ids = append(ids, pager.Item().ID)
		}
		return result{"ids": ids}, pager.Err()
	},
	"exportAudit": func(ctx context.Context, _ *caseRun, client *sealward.Client, given arguments) (any, error) {
		stream, err := admin.New(client).Audit.Export(ctx, admin.AuditFilter{
			RequestID: given.RequestID, OperationType: given.OperationType,
		})
		if err != nil {
			return nil, err
		}
		defer stream.Close()
		ids := []string{}
		for stream.Next() {
			ids = append(ids, stream.Item().ID)
		}
		return result{"ids": ids}, stream.Err()
	},
	"createService": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		outcome, err := admin.New(client).Services.Create(ctx, admin.NewService{Name: given.Name})
		return outcomeResult(run, outcome, func(made *admin.Service) string { return made.ID }), err
	},
	"createApiKey": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		outcome, err := admin.New(client).APIKeys.Create(ctx, admin.NewAPIKey{
			Name: given.Name, Type: given.Type, ServiceID: given.ServiceID,
		})
		return outcomeResult(run, outcome, func(made *admin.CreatedAPIKey) string { return made.ID }), err
	},
	"deleteService": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		outcome, err := admin.New(client).Services.Delete(ctx, given.ID, admin.IfMatch(given.IfMatch))
		return outcomeResult(run, outcome, func(*admin.Nothing) string { return "" }), err
	},
	"updateService": func(ctx context.Context, run *caseRun, client *sealward.Client, given arguments) (any, error) {
		var changes admin.ServiceChanges
		if err := json.Unmarshal(given.Changes, &changes); err != nil {
			return nil, err
		}
		outcome, err := admin.New(client).Services.Update(ctx, given.ID, changes, admin.IfMatch(given.IfMatch))
		if err != nil {
			return nil, err
		}
		updated, _ := outcome.Done()
		return updated, nil
	},
}

func each[A, B any](items []A, convert func(A) B) []B {
	converted := make([]B, len(items))
	for index, item := range items {
		converted[index] = convert(item)
	}
	return converted
}

func protectedResult(protected sealward.Protected) any {
	return result{"jwe": protected.Envelope, "requestId": protected.RequestID}
}

func payloadResult(payload sealward.Payload) any {
	return result{"payloadJson": string(payload.JSON()), "requestId": payload.RequestID()}
}

func keyResult(key sealward.DataKey) any {
	described := result{"algorithm": key.Algorithm, "jwe": key.Envelope, "key": nil}
	if key.Key != nil {
		described["key"] = key.Key.Bytes()
	}
	return described
}

func batchResult[T any](run *caseRun, results []sealward.Result[T], describe func(T) any) any {
	items := make([]any, len(results))
	for index, one := range results {
		if len(results) < 10 {
			run.print(one)
		}
		if one.Err != nil {
			items[index] = result{"error": describeError(one.Err)}
		} else {
			items[index] = describe(one.Value)
		}
	}
	return result{"items": items, "count": len(results)}
}

func outcomeResult[T any](run *caseRun, outcome admin.Outcome[T], id func(*T) string) any {
	run.print(outcome)
	if change, pending := outcome.Pending(); pending {
		run.print(change)
		return result{"kind": "pending", "id": change.ID}
	}
	done, _ := outcome.Done()
	if done == nil {
		return nil
	}
	run.print(done)
	return result{"kind": "done", "id": id(done)}
}

func headerOf(envelope sealward.Envelope) (any, error) {
	var members struct {
		Protected string `json:"protected"`
	}
	if err := json.Unmarshal([]byte(envelope.String()), &members); err != nil {
		return nil, err
	}
	text, err := base64.RawURLEncoding.DecodeString(members.Protected)
	if err != nil {
		return nil, err
	}
	var header map[string]any
	if err := json.Unmarshal(text, &header); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	sort.Strings(names)
	return result{"header": header, "headerNames": names, "jwe": envelope}, nil
}
