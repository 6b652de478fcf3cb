package managed

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"sealward.dev/terraform/internal/session"
)

// suffix is what follows the prefix of an ID.
var suffix = regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{26}$`)

// IsID reports whether a text has the form of an ID with a prefix. Other texts, such as svc_shop, can be names.
func IsID(prefix, text string) bool {
	rest, hasPrefix := strings.CutPrefix(text, prefix)
	return hasPrefix && suffix.MatchString(rest)
}

// identify returns the ID of a resource, which text is, or of the only resource whose name or number text is.
func (k Kind[M, R]) identify(ctx context.Context, s *session.Session, text string) (string, error) {
	if IsID(k.IDPrefix, text) {
		return text, nil
	}
	ids, err := k.Find(ctx, s, text)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", fmt.Errorf("no %s is named %q", k.Noun, text)
	case len(ids) > 1:
		return "", fmt.Errorf("%d are named %q, so use one of their IDs: %s", len(ids), text, strings.Join(ids, ", "))
	}
	return ids[0], nil
}
