package keys

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/terraform/internal/session"
)

// replacedIfOther replaces a key if the configuration has other key material. The same material can be PEM or JWK, and an
// imported key has a thumbprint alone.
func replacedIfOther() planmodifier.String {
	const text = "Another public key needs another key."
	return stringplanmodifier.RequiresReplaceIf(func(ctx context.Context, request planmodifier.StringRequest, response *stringplanmodifier.RequiresReplaceIfFuncResponse) {
		wanted, isKnown := thumbprint(request.PlanValue.ValueString())
		var present types.String
		response.Diagnostics.Append(request.State.GetAttribute(ctx, path.Root("thumbprint"), &present)...)
		response.RequiresReplace = !isKnown || wanted != present.ValueString()
	}, text, text)
}

var errPrivate = errors.New("public_key contains a private or a symmetric key, which the state would keep; give it the public key alone")

// secretMember finds a member of a JWK that only private and symmetric keys have.
var secretMember = regexp.MustCompile(`"(d|p|q|dp|dq|qi|oth|k|priv)"\s*:`)

// isPrivate reports whether a text contains a private or a symmetric key, as PEM or as a JWK.
func isPrivate(text string) bool {
	return strings.Contains(text, "PRIVATE KEY") || secretMember.MatchString(text)
}

// publicOnly refuses a private key before it is in a plan, in the state or in a request.
type publicOnly struct{}

func (publicOnly) Description(context.Context) string { return "The key must be public." }

func (p publicOnly) MarkdownDescription(ctx context.Context) string { return p.Description(ctx) }

func (publicOnly) ValidateString(_ context.Context, request validator.StringRequest, response *validator.StringResponse) {
	if isPrivate(request.ConfigValue.ValueString()) {
		session.Report(&response.Diagnostics, "use this key", errPrivate)
	}
}

// thumbprint returns the thumbprint of RFC 7638 of a public key. It is not known for a form that Go cannot read.
func thumbprint(text string) (string, bool) {
	jwk := map[string]string{}
	if isJWK(text) {
		var all map[string]any
		if json.Unmarshal([]byte(text), &all) != nil {
			return "", false
		}
		for name, member := range all {
			if content, isText := member.(string); isText {
				jwk[name] = content
			}
		}
	} else {
		jwk = fromPEM(text)
	}
	names, isKnown := hashed[jwk["kty"]]
	if !isKnown {
		return "", false
	}
	required := map[string]string{}
	for _, name := range names {
		required[name] = jwk[name]
	}
	// encoding/json sorts the members, as RFC 7638 wants them.
	content, err := json.Marshal(required)
	digest := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(digest[:]), err == nil
}

// hashed are the members that a thumbprint hashes.
var hashed = map[string][]string{
	"RSA": {"e", "kty", "n"},
	"EC":  {"crv", "kty", "x", "y"},
	"OKP": {"crv", "kty", "x"},
	"AKP": {"alg", "kty", "pub"},
}

// fromPEM returns the members of the JWK of a public key or a certificate in PEM, or nothing.
func fromPEM(text string) map[string]string {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if certificate, isCertificate := x509.ParseCertificate(block.Bytes); isCertificate == nil {
		public, err = certificate.PublicKey, nil
	}
	if err != nil {
		return nil
	}
	encode := base64.RawURLEncoding.EncodeToString
	switch public := public.(type) {
	case *rsa.PublicKey:
		return map[string]string{"kty": "RSA", "n": encode(public.N.Bytes()), "e": encode(big.NewInt(int64(public.E)).Bytes())}
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil {
			return nil
		}
		half := (len(point) - 1) / 2
		return map[string]string{"kty": "EC", "crv": public.Curve.Params().Name, "x": encode(point[1 : 1+half]), "y": encode(point[1+half:])}
	case ed25519.PublicKey:
		return map[string]string{"kty": "OKP", "crv": "Ed25519", "x": encode(public)}
	}
	return nil
}
