package keys

import (
	"context"
	"sort"
	"strings"

	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/managed"
	"sealward.dev/terraform/internal/session"
)

// lineage is a key with the successors that rotations made of it: the same service, name, use and algorithm. It exists while
// one of its keys does.
type lineage struct {
	first *admin.Key
	// current is the newest active key, or the first one that is left.
	current *admin.Key
	// living are all keys of the lineage that are not destroyed, the oldest first.
	living []admin.Key
}

// read returns the lineage of a key, or nothing if all its keys are destroyed or will be.
func read(ctx context.Context, s *session.Session, id string) (*lineage, error) {
	first, err := managed.NilIfGone(s.Admin.Keys.Read(ctx, id))
	if first == nil || err != nil {
		return nil, err
	}
	members := []admin.Key{*first}
	if first.RotationDays != nil {
		if members, err = successors(ctx, s, first); err != nil {
			return nil, err
		}
	}
	found := &lineage{first: first}
	for index := range members {
		if isLiving(&members[index]) {
			found.living = append(found.living, members[index])
		}
	}
	if len(found.living) == 0 {
		return nil, nil
	}
	current := found.living[0].ID
	for _, member := range found.living {
		if member.Status == "active" {
			current = member.ID
		}
	}
	found.current, err = s.Admin.Keys.Read(ctx, current)
	return found, err
}

// successors returns a key and what rotations made of it.
func successors(ctx context.Context, s *session.Session, first *admin.Key) ([]admin.Key, error) {
	named, err := s.Admin.Keys.List(admin.KeyFilter{ServiceID: first.ServiceID, Name: first.Name, Use: first.Use}).All(ctx)
	var members []admin.Key
	for _, key := range named {
		if key.Algorithm == first.Algorithm && key.RotationDays != nil && !key.CreatedAt.Before(first.CreatedAt) {
			members = append(members, key)
		}
	}
	sort.Slice(members, func(left, right int) bool { return members[left].CreatedAt.Before(members[right].CreatedAt) })
	return members, err
}

func isLiving(key *admin.Key) bool {
	return key.Status != "pending_destruction" && key.Status != "destroyed"
}

// find returns the IDs of the first keys of all lineages with a name, which the ID of a service and a slash can precede.
func find(ctx context.Context, s *session.Session, text string) ([]string, error) {
	filter := admin.KeyFilter{Name: text}
	if service, name, isQualified := strings.Cut(text, "/"); isQualified && managed.IsID("svc_", service) {
		filter = admin.KeyFilter{ServiceID: service, Name: name}
	}
	named, err := s.Admin.Keys.List(filter).All(ctx)
	sort.Slice(named, func(left, right int) bool { return named[left].CreatedAt.Before(named[right].CreatedAt) })
	var ids []string
	begun := map[[3]string]bool{}
	for index := range named {
		key := &named[index]
		origin := [3]string{key.ServiceID, key.Use, key.Algorithm}
		if !isLiving(key) || key.RotationDays != nil && begun[origin] {
			continue
		}
		begun[origin] = key.RotationDays != nil
		ids = append(ids, key.ID)
	}
	return ids, err
}
