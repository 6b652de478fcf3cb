package tests

import (
	"reflect"
	"strings"

	"sealward.dev/go"
	"sealward.dev/go/admin"
)

// operations are the calls of the API that the client has.
var operations = strings.Fields(`
	jwks health readCaller readProtectionPolicy protect protectBatch unprotect unprotectBatch rewrap rewrapBatch makeDataKey
	operate
	listServices createService readService updateService patchService deleteService
	listPolicies createPolicy readPolicy updatePolicy patchPolicy deletePolicy restorePolicy
	listKeys createKey readKey updateKey patchKey deleteKey createImportParameters
	listApiKeys createApiKey readApiKey updateApiKey patchApiKey revokeApiKey
	listIdentities createIdentity readIdentity updateIdentity patchIdentity deleteIdentity
	listPeople readPerson lockUnseenPerson lockPerson unlockPerson
	listChanges readChange approveChange rejectChange withdrawChange
	readEmergency freezeEverything unfreezeEverything
	listAudit readAuditProof readAuditCheckpoint readAuditLogKey readAuditTile listManagementEvents
	readKeyRegister readCryptographicBillOfMaterials readReportKeys
`)

// types are the types of the client for the schemas of the API, by the names of the schemas. Several types make one
// schema where the client takes it apart.
var types = map[string][]any{
	"ApiKey":                  {admin.APIKey{}},
	"ApiKeyChanges":           {admin.APIKeyChanges{}, admin.APIKey{}},
	"Approval":                {admin.Approval{}},
	"AuditProof":              {admin.AuditProof{}},
	"AuditRecord":             {admin.AuditRecord{}},
	"CallerIdentity":          {sealward.Caller{}},
	"Change":                  {admin.Change{}},
	"CreatedApiKey":           {admin.CreatedAPIKey{}},
	"Checkpoints":             {admin.ReportCheckpoints{}},
	"Credential":              {sealward.Caller{}.Credential},
	"DataKeyRequest":          {sealward.DataKeyRequest{}},
	"Decision":                {admin.Decision{}},
	"DecryptPayload":          {sealward.DecryptRequest{}},
	"Emergency":               {admin.Emergency{}},
	"EncryptPayload":          {sealward.EncryptRequest{}},
	"EnvelopeHeaders":         {sealward.EnvelopeHeaders{}},
	"EventPerson":             {admin.EventPerson{}},
	"HashPayload":             {sealward.HashRequest{}},
	"Health":                  {sealward.Health{}},
	"HealthAudit":             {sealward.Health{}.Checks.Audit},
	"HealthChecks":            {sealward.Health{}.Checks},
	"HealthDatabase":          {sealward.Health{}.Checks.Database},
	"HealthHsm":               {sealward.Health{}.Checks.HSM},
	"HealthRateLimiter":       {sealward.HealthCheck{}},
	"HealthRecords":           {sealward.HealthCheck{}},
	"HealthToken":             {sealward.HealthToken{}},
	"IdentityMatch":           {admin.IdentityMatch{}},
	"ImportParameters":        {admin.ImportParameters{}},
	"JwkSet":                  {sealward.JWKSet{}},
	"Key":                     {admin.Key{}},
	"KeyChanges":              {admin.KeyChanges{}, admin.Key{}},
	"KeyMaker":                {admin.KeyMaker{}},
	"KeyRegister":             {admin.KeyRegister{}},
	"KeyRegisterEntry":        {admin.KeyRegisterEntry{}},
	"KeyRegisterFilter":       {admin.KeyRegisterFilter{}},
	"KeyRegisterPolicy":       {admin.KeyRegisterPolicy{}},
	"LogCheckpoint":           {admin.ReportCheckpoint{}},
	"ManagementEvent":         {admin.Event{}},
	"NewApiKey":               {admin.NewAPIKey{}},
	"NewFreeze":               {admin.Freeze{}},
	"NewImportParameters":     {admin.NewImportParameters{}},
	"NewKey":                  {admin.NewKey{}},
	"NewPerson":               {admin.NewPerson{}},
	"NewPersonLock":           {admin.PersonLock{}},
	"NewPolicy":               {admin.NewPolicy{}},
	"NewService":              {admin.NewService{}},
	"NewWorkloadIdentity":     {admin.NewIdentity{}},
	"OperationResult":         {sealward.Ciphertext{}, sealward.Signature{}, sealward.Digest{}},
	"Person":                  {admin.Person{}},
	"Policy":                  {admin.Policy{}},
	"PolicyChanges":           {admin.PolicyChanges{}, admin.Policy{}},
	"PolicyRestoration":       {admin.PolicyChanges{}},
	"PolicySummary":           {sealward.Policy{}},
	"Problem":                 {sealward.Detail{}},
	"ProposedChange":          {admin.ProposedChange{}},
	"Proposer":                {admin.Proposer{}},
	"ProtectRequest":          {sealward.ProtectRequest{}},
	"RateLimit":               {sealward.RateLimit{}},
	"RewrapItem":              {sealward.RewrapRequest{}},
	"RewrapRequest":           {sealward.RewrapRequest{}},
	"Service":                 {admin.Service{}},
	"ServiceChanges":          {admin.ServiceChanges{}, admin.Service{}},
	"SignPayload":             {sealward.SignRequest{}},
	"TokenObject":             {admin.TokenObject{}},
	"Unfreeze":                {admin.Unfreeze{}},
	"UnprotectItem":           {sealward.UnprotectRequest{}},
	"UnprotectRequest":        {sealward.UnprotectRequest{}},
	"VerifyPayload":           {sealward.VerifyRequest{}},
	"WorkloadIdentity":        {admin.Identity{}},
	"WorkloadIdentityChanges": {admin.IdentityChanges{}, admin.Identity{}},
	"WrappedKey":              {admin.WrappedKey{}},
}

// members are what the client reads or writes without a public type of its own.
var members = map[string]string{
	"ApiKeyPage":           "items nextCursor",
	"AuditRecordPage":      "items nextCursor",
	"ChangePage":           "items nextCursor",
	"KeyPage":              "items nextCursor",
	"ManagementEventPage":  "items nextCursor",
	"PersonPage":           "items nextCursor",
	"PolicyPage":           "items nextCursor",
	"ServicePage":          "items nextCursor",
	"WorkloadIdentityPage": "items nextCursor",
	"DataKey":              "algorithm jwe key requestId",
	"DecryptRequest":       "operation payload",
	"EncryptRequest":       "operation payload",
	"HashRequest":          "operation payload",
	"SignRequest":          "operation payload",
	"VerifyRequest":        "operation payload",
	"OperationAnswer":      "requestId result timestamp",
	"ErrorObject":          "code message details",
	"ErrorResponse":        "error requestId",
	"ProtectBatch":         "items",
	"UnprotectBatch":       "items requestId",
	"RewrapBatch":          "items requestId",
	"ProtectedBatch":       "items requestId",
	"UnprotectedBatch":     "items requestId",
	"RewrappedBatch":       "items requestId",
	"ProtectedItem":        "dropped error jwe message messageType operations payload status warning",
	"UnprotectedItem":      "error operations payload status",
	"RewrappedItem":        "error jwe messageType operations status",
	"ProtectedPayload":     "dropped jwe message messageType operations payload requestId warning",
	"RewrappedPayload":     "jwe messageType operations requestId",
	"Unprotected":          "operations payload requestId",
	"OperationResult":      "data valid",
	// The client writes the encoding that the type of the data has.
	"EncryptPayload": "encoding",
	"DecryptPayload": "encoding",
	"HashPayload":    "encoding",
	"SignPayload":    "encoding",
	"VerifyPayload":  "encoding",
	// The API accepts and ignores these members, so that its answers can be sent back. The client does not send them.
	"UnprotectRequest": "protectedPayload messageType operations requestId",
	"RewrapRequest":    "protectedPayload messageType operations requestId",
	"UnprotectItem":    "protectedPayload messageType operations status",
	"RewrapItem":       "protectedPayload messageType operations status",
	// Envelopes and keys are texts that the client carries as they are.
	"Jwe":               "protected encrypted_key iv ciphertext tag header unprotected",
	"UnprotectedHeader": "epk",
	"EphemeralKey":      "kty crv x y",
	"Jwk":               "kty crv kid alg n e x y pub",
	"PublishedJwk":      "kty crv kid use alg n e x y pub",
	"PrivateJwk":        "kty crv kid alg n e d p q dp dq qi x y pub",
}

// known is what the client knows of the OpenAPI document.
func known() any {
	schemas := map[string][]string{}
	for name, values := range types {
		for _, value := range values {
			schemas[name] = append(schemas[name], tags(reflect.TypeOf(value))...)
		}
	}
	for name, list := range members {
		schemas[name] = append(schemas[name], strings.Fields(list)...)
	}
	return map[string]any{"operations": operations, "schemas": schemas}
}

// tags are the names of the members that a type has in JSON.
func tags(of reflect.Type) []string {
	var names []string
	for index := 0; index < of.NumField(); index++ {
		field := of.Field(index)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			names = append(names, tags(field.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}
