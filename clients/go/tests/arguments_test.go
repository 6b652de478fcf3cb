package tests

import (
	"encoding/json"
	"strings"

	"sealward.dev/go"
)

// arguments are those of all calls.
type arguments struct {
	item
	RequestID       string  `json:"requestId"`
	DeadlineSeconds float64 `json:"deadlineSeconds"`
	Items           []item  `json:"items"`
	Repeat          *struct {
		Count int  `json:"count"`
		Item  item `json:"item"`
	} `json:"repeat"`
	Plaintext       *bool           `json:"plaintext"`
	KeyID           string          `json:"keyId"`
	AAD             []byte          `json:"aad"`
	Ciphertext      []byte          `json:"ciphertext"`
	IV              []byte          `json:"iv"`
	Tag             []byte          `json:"tag"`
	Data            json.RawMessage `json:"data"`
	DataJSON        *string         `json:"dataJson"`
	DataBytes       *[]byte         `json:"dataBytes"`
	Signature       []byte          `json:"signature"`
	Algorithm       string          `json:"algorithm"`
	Prehashed       bool            `json:"prehashed"`
	SignatureFormat string          `json:"signatureFormat"`
	ServiceID       string          `json:"serviceId"`
	Bytes           int64           `json:"bytes"`
	ID              string          `json:"id"`
	IfMatch         string          `json:"ifMatch"`
	Changes         json.RawMessage `json:"changes"`
	Name            string          `json:"name"`
	NameContains    string          `json:"nameContains"`
	Limit           int             `json:"limit"`
	Type            string          `json:"type"`
	OperationType   string          `json:"operationType"`
}

// item is what a call and an item of a batch share.
type item struct {
	Payload          json.RawMessage   `json:"payload"`
	PayloadJSON      *string           `json:"payloadJson"`
	PayloadBytes     *[]byte           `json:"payloadBytes"`
	PayloadOfLength  int               `json:"payloadOfLength"`
	JWE              sealward.Envelope `json:"jwe"`
	ProtectedPayload sealward.Envelope `json:"protectedPayload"`
	PolicyNumber     string            `json:"policyNumber"`
	ToPolicyNumber   string            `json:"toPolicyNumber"`
	Context          sealward.Context  `json:"context"`
	ToContext        sealward.Context  `json:"toContext"`
}

// chosen returns a payload as the case gives it: as bytes, raw JSON or a value of the language.
func chosen(content *[]byte, raw *string, value json.RawMessage) any {
	switch {
	case content != nil:
		return *content
	case raw != nil:
		return sealward.JSON(*raw)
	}
	var decoded any
	if err := json.Unmarshal(value, &decoded); err != nil {
		panic(err)
	}
	return decoded
}

func (i item) protect() sealward.ProtectRequest {
	request := sealward.ProtectRequest{PolicyNumber: i.PolicyNumber, Context: i.Context}
	if i.PayloadOfLength > 0 {
		request.Payload = strings.Repeat("x", i.PayloadOfLength)
	} else {
		request.Payload = chosen(i.PayloadBytes, i.PayloadJSON, i.Payload)
	}
	return request
}

func (i item) envelope() sealward.Envelope {
	if i.JWE.IsZero() {
		return i.ProtectedPayload
	}
	return i.JWE
}

func (i item) unprotect() sealward.UnprotectRequest {
	return sealward.UnprotectRequest{Envelope: i.envelope(), PolicyNumber: i.PolicyNumber, Context: i.Context}
}

func (i item) rewrap() sealward.RewrapRequest {
	return sealward.RewrapRequest{
		Envelope: i.envelope(), PolicyNumber: i.PolicyNumber, ToPolicyNumber: i.ToPolicyNumber,
		Context: i.Context, ToContext: i.ToContext,
	}
}

func (a arguments) items() []item {
	if a.Repeat == nil {
		return a.Items
	}
	items := make([]item, a.Repeat.Count)
	for index := range items {
		items[index] = a.Repeat.Item
	}
	return items
}

func (a arguments) data() any { return chosen(a.DataBytes, a.DataJSON, a.Data) }

func (a arguments) dataKey() sealward.DataKeyRequest {
	return sealward.DataKeyRequest{
		PolicyNumber: a.PolicyNumber, Context: a.Context, Algorithm: a.Algorithm,
		WithoutPlaintext: a.Plaintext != nil && !*a.Plaintext,
	}
}

func (a arguments) verify() sealward.VerifyRequest {
	return sealward.VerifyRequest{
		Data: a.data(), Signature: a.Signature, Algorithm: a.Algorithm, KeyID: a.KeyID,
		Prehashed: a.Prehashed, SignatureFormat: a.SignatureFormat,
	}
}

func (a arguments) decrypt() sealward.DecryptRequest {
	return sealward.DecryptRequest{
		Ciphertext: sealward.Ciphertext{
			Ciphertext: a.Ciphertext, IV: a.IV, Tag: a.Tag, Algorithm: a.Algorithm, KeyID: a.KeyID,
		},
		AAD: a.AAD,
	}
}
