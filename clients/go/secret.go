package sealward

const redacted = "[redacted]"

// Secret is a symmetric key. It prints as [redacted].
type Secret struct{ content []byte }

// Bytes returns the key. [Secret.Wipe] changes these bytes.
func (s *Secret) Bytes() []byte { return s.content }

// Wipe overwrites the key in memory.
func (s *Secret) Wipe() {
	if s != nil {
		wipe(s.content)
	}
}

// String hides the key.
func (s *Secret) String() string { return redacted }

// GoString hides the key.
func (s *Secret) GoString() string { return redacted }

// MarshalText hides the key.
func (s *Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

func wipe(content []byte) {
	for index := range content {
		content[index] = 0
	}
}
