package sealward

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// maxCachedKeys bounds the memory of the cache.
const maxCachedKeys = 1000

// DataKeyCache bounds the reuse of a data key by [Client.CachedDataKey], [Client.OpenDataKey], sealed files and streams.
// A key is used again until one of the bounds is met. A key that stays in use for a longer time is also exposed for a
// longer time: whoever loses the right to open it can use it until MaxAge.
type DataKeyCache struct {
	MaxAge      time.Duration
	MaxMessages int
	MaxBytes    int64
}

// DataKeyCacheCounters prove what the cache saves. Each miss was a call.
type DataKeyCacheCounters struct{ Hits, Misses uint64 }

// DataKeyCacheCounters returns the counters since the start of the client.
func (c *Client) DataKeyCacheCounters() DataKeyCacheCounters {
	c.dataKeys.mutex.Lock()
	defer c.dataKeys.mutex.Unlock()
	return c.dataKeys.counters
}

type dataKeyStore struct {
	limits *DataKeyCache

	mutex    sync.Mutex
	counters DataKeyCacheCounters
	slots    map[string]*keySlot
}

// keySlot is the place of one key. Whoever holds its turn can read and change it, so concurrent callers make one call.
type keySlot struct {
	turn     chan struct{}
	key      DataKey
	at       time.Time
	messages int
	bytes    int64
}

func newDataKeyStore(limits *DataKeyCache) *dataKeyStore {
	return &dataKeyStore{limits: limits, slots: map[string]*keySlot{}}
}

func (s *dataKeyStore) made(
	ctx context.Context, request DataKeyRequest, size int64, call func() (DataKey, error),
) (DataKey, error) {
	return s.use(ctx, []any{"made", request.PolicyNumber, request.Context, request.Algorithm}, size, call)
}

func (s *dataKeyStore) opened(
	ctx context.Context, request UnprotectRequest, call func() (*Secret, error),
) (*Secret, error) {
	found, err := s.use(ctx, []any{"opened", request.Envelope, request.PolicyNumber, request.Context}, 0, func() (DataKey, error) {
		key, err := call()
		return DataKey{Key: key}, err
	})
	return found.Key, err
}

// use returns a copy of the key that name has in the cache, or else of the key that call returns.
func (s *dataKeyStore) use(ctx context.Context, name []any, size int64, call func() (DataKey, error)) (DataKey, error) {
	if s.limits == nil {
		return call()
	}
	text, err := json.Marshal(name)
	if err != nil {
		return DataKey{}, err
	}
	slot := s.slot(string(text))
	select {
	case slot.turn <- struct{}{}:
		defer func() { <-slot.turn }()
	case <-ctx.Done():
		return DataKey{}, broken(ctx, ctx.Err())
	}
	hit := slot.key.Key != nil && slot.allows(s.limits, size)
	s.count(hit)
	if !hit {
		slot.key.Key.Wipe()
		slot.key, slot.messages, slot.bytes = DataKey{}, 0, 0
		if slot.key, err = call(); err != nil || slot.key.Key == nil {
			return slot.key, err
		}
		slot.at = time.Now()
	}
	slot.messages++
	slot.bytes += size
	lent := slot.key
	lent.Key = &Secret{append([]byte(nil), slot.key.Key.content...)}
	return lent, nil
}

func (s *keySlot) allows(limits *DataKeyCache, size int64) bool {
	return time.Since(s.at) < limits.MaxAge && s.messages < limits.MaxMessages && s.bytes+size <= limits.MaxBytes
}

func (s *dataKeyStore) count(hit bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if hit {
		s.counters.Hits++
	} else {
		s.counters.Misses++
	}
}

func (s *dataKeyStore) slot(name string) *keySlot {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if slot := s.slots[name]; slot != nil {
		return slot
	}
	s.discard(func(slot *keySlot) bool { return !slot.allows(s.limits, 0) })
	if len(s.slots) >= maxCachedKeys {
		s.discard(func(*keySlot) bool { return true })
	}
	slot := &keySlot{turn: make(chan struct{}, 1)}
	s.slots[name] = slot
	return slot
}

// discard wipes the keys that useless names. A key whose turn someone has stays.
func (s *dataKeyStore) discard(useless func(*keySlot) bool) {
	for name, slot := range s.slots {
		select {
		case slot.turn <- struct{}{}:
			if useless(slot) {
				slot.key.Key.Wipe()
				slot.key = DataKey{}
				delete(s.slots, name)
			}
			<-slot.turn
		default:
		}
	}
}

func (s *dataKeyStore) wipe() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.discard(func(*keySlot) bool { return true })
}
