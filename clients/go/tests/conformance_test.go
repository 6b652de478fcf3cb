package tests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sealward.dev/go"
)

const language = "go"

type document struct {
	Languages map[string][]string `json:"languages"`
	Cases     []testCase          `json:"cases"`
}

type testCase struct {
	Name   string       `json:"name"`
	Part   string       `json:"part"`
	TLS    bool         `json:"tls"`
	Client clientOfCase `json:"client"`
	Steps  []step       `json:"steps"`
}

type clientOfCase struct {
	Credential struct {
		APIKey      *string `json:"apiKey"`
		APIKeyFile  *string `json:"apiKeyFile"`
		TokenFile   *string `json:"tokenFile"`
		Certificate bool    `json:"certificate"`
	} `json:"credential"`
	Environment          map[string]string `json:"environment"`
	CAFile               json.RawMessage   `json:"caFile"`
	AllowPlaintext       bool              `json:"allowPlaintext"`
	DeadlineSeconds      float64           `json:"deadlineSeconds"`
	MaxAttempts          int               `json:"maxAttempts"`
	MaxRetryAfterSeconds float64           `json:"maxRetryAfterSeconds"`
	Traceparent          string            `json:"traceparent"`
	DataKeyCache         *struct {
		MaxAgeSeconds float64 `json:"maxAgeSeconds"`
		MaxMessages   int     `json:"maxMessages"`
		MaxBytes      int64   `json:"maxBytes"`
	} `json:"dataKeyCache"`
}

type step struct {
	Call      string          `json:"call"`
	Arguments json.RawMessage `json:"arguments"`
	// Use names members of earlier results, by the number of the outcome and the member, that are arguments.
	Use        map[string][2]any `json:"use"`
	Concurrent int               `json:"concurrent"`
	Write      *string           `json:"write"`
}

type session struct {
	Session int `json:"session"`
	// Case has the names of the real service in live cases.
	Case               testCase `json:"case"`
	URL                string   `json:"url"`
	CAFile             string   `json:"caFile"`
	CertificateFile    string   `json:"certificateFile"`
	CertificateKeyFile string   `json:"certificateKeyFile"`
}

type verdict struct {
	Passed   bool     `json:"passed"`
	Problems []string `json:"problems"`
}

type report struct {
	Outcomes []map[string]any `json:"outcomes"`
	Texts    []string         `json:"texts"`
}

func TestConformance(t *testing.T) {
	server := startServer(t)
	var cases document
	server.get(t, "cases", &cases)
	parts := map[string]bool{}
	for _, part := range cases.Languages[language] {
		parts[part] = true
		if os.Getenv("SEALWARD_WORLD") != "" {
			parts["live"], parts["live-"+part] = true, true
		}
	}
	t.Run("cases", func(t *testing.T) {
		for _, one := range cases.Cases {
			one := one
			if !parts[one.Part] {
				continue
			}
			t.Run(one.Name, func(t *testing.T) {
				// The environment belongs to the whole process.
				if one.Client.Environment == nil {
					t.Parallel()
				}
				runCase(t, server, one)
			})
		}
	})
	if os.Getenv("SEALWARD_OPENAPI") != "" {
		t.Run("knows_the_openapi_document", func(t *testing.T) {
			var verdict verdict
			server.post(t, "known/"+language, known(), &verdict)
			for _, problem := range verdict.Problems {
				t.Error(problem)
			}
		})
	}
	var result struct {
		Passed  bool     `json:"passed"`
		Count   int      `json:"count"`
		Missing []string `json:"missing"`
	}
	server.get(t, "report/"+language, &result)
	if !result.Passed {
		t.Errorf("%d cases passed; missing: %v", result.Count, result.Missing)
	}
	t.Logf("%d cases passed", result.Count)
}

func runCase(t *testing.T, server scriptedServer, one testCase) {
	var session session
	server.post(t, "start/"+language+"/"+one.Name, nil, &session)
	one = session.Case
	run := &caseRun{t: t}
	client, err := run.client(one, session)
	if err != nil {
		run.add(nil, err, 0)
	} else {
		run.print(client)
		run.steps(client, one.Steps)
	}
	var verdict verdict
	server.post(t, fmt.Sprintf("finish/%d", session.Session), run.report, &verdict)
	for _, problem := range verdict.Problems {
		t.Error(problem)
	}
}

// caseRun collects what the calls of a case return and how it prints.
type caseRun struct {
	t              *testing.T
	mutex          sync.Mutex
	report         report
	credentialFile string
}

func (r *caseRun) steps(client *sealward.Client, steps []step) {
	for _, step := range steps {
		if step.Write != nil {
			must(r.t, os.WriteFile(r.credentialFile, []byte(*step.Write), 0o600))
			continue
		}
		var group sync.WaitGroup
		for count := 0; count < step.Concurrent || count == 0; count++ {
			group.Add(1)
			go func(step stepCall) {
				defer group.Done()
				start := time.Now()
				result, err := step.perform(r, client)
				r.add(result, err, time.Since(start))
			}(stepCall(r.resolved(step)))
		}
		group.Wait()
	}
}

// resolved puts members of earlier results into the arguments of a step.
func (r *caseRun) resolved(step step) step {
	if step.Use == nil {
		return step
	}
	arguments := map[string]json.RawMessage{}
	must(r.t, json.Unmarshal(step.Arguments, &arguments))
	for name, place := range step.Use {
		text, err := json.Marshal(r.report.Outcomes[int(place[0].(float64))]["result"])
		must(r.t, err)
		members := map[string]json.RawMessage{}
		must(r.t, json.Unmarshal(text, &members))
		arguments[name] = members[place[1].(string)]
	}
	var err error
	step.Arguments, err = json.Marshal(arguments)
	must(r.t, err)
	return step
}

func (r *caseRun) add(result any, err error, took time.Duration) {
	outcome := map[string]any{"seconds": took.Seconds()}
	if err != nil {
		outcome["error"] = describeError(err)
		r.print(err)
		for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(cause) {
			r.print(cause)
		}
	} else {
		outcome["result"] = result
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.report.Outcomes = append(r.report.Outcomes, outcome)
}

// print collects the texts that a program would log of a value.
func (r *caseRun) print(value any) {
	texts := []string{fmt.Sprintf("%v", value), fmt.Sprintf("%+v", value), fmt.Sprintf("%#v", value)}
	if text, err := json.Marshal(value); err == nil {
		texts = append(texts, string(text))
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.report.Texts = append(r.report.Texts, texts...)
}

func (r *caseRun) file(content string) string {
	path := filepath.Join(r.t.TempDir(), "credential")
	must(r.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func (r *caseRun) client(one testCase, session session) (*sealward.Client, error) {
	wanted := one.Client
	if wanted.Environment != nil {
		return r.clientOfEnvironment(wanted.Environment, session)
	}
	options := sealward.Options{
		URL:            session.URL,
		AllowPlaintext: wanted.AllowPlaintext,
		Timeout:        seconds(wanted.DeadlineSeconds),
		MaxAttempts:    wanted.MaxAttempts,
		MaxRetryAfter:  seconds(wanted.MaxRetryAfterSeconds),
	}
	credential := wanted.Credential
	switch {
	case credential.APIKey != nil:
		options.Credentials = sealward.APIKey(*credential.APIKey)
	case credential.APIKeyFile != nil:
		r.credentialFile = r.file(*credential.APIKeyFile)
		options.Credentials = sealward.APIKeyFile(r.credentialFile)
	case credential.TokenFile != nil:
		r.credentialFile = r.file(*credential.TokenFile)
		options.Credentials = sealward.TokenFile(r.credentialFile)
	}
	r.print(options.Credentials)
	if credential.Certificate {
		options.CertificateFile, options.KeyFile = session.CertificateFile, session.CertificateKeyFile
	}
	if one.TLS && string(wanted.CAFile) != "null" {
		options.CAFile = session.CAFile
	}
	if wanted.Traceparent != "" {
		options.Traceparent = func(context.Context) string { return wanted.Traceparent }
	}
	if limits := wanted.DataKeyCache; limits != nil {
		options.DataKeyCache = &sealward.DataKeyCache{
			MaxAge: seconds(limits.MaxAgeSeconds), MaxMessages: limits.MaxMessages, MaxBytes: limits.MaxBytes,
		}
	}
	return sealward.New(options)
}

func (r *caseRun) clientOfEnvironment(variables map[string]string, session session) (*sealward.Client, error) {
	for _, name := range []string{
		"SEALWARD_URL", "SEALWARD_API_KEY", "SEALWARD_API_KEY_FILE", "SEALWARD_TOKEN_FILE", "SEALWARD_CA_FILE",
	} {
		r.t.Setenv(name, "")
	}
	for name, value := range variables {
		value = strings.NewReplacer("{url}", session.URL, "{caFile}", session.CAFile).Replace(value)
		if content := strings.TrimPrefix(value, "{file:"); content != value {
			value = r.file(strings.TrimSuffix(content, "}"))
		}
		r.t.Setenv(name, value)
	}
	return sealward.NewFromEnvironment()
}

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }
