package keys

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"sealward.dev/go"
	"sealward.dev/terraform/internal/session"
)

// The service creates a key, and then refuses to disable it.
func refusesToDisable(answer http.ResponseWriter, request *http.Request) {
	answer.Header().Set("Content-Type", "application/json")
	if request.Method == http.MethodPost {
		answer.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprint(answer, `{"id": "key_1", "name": "partner", "status": "retired"}`)
		return
	}
	answer.WriteHeader(http.StatusForbidden)
	_, _ = fmt.Fprint(answer, `{"error": {"code": "FORBIDDEN", "message": "no"}, "requestId": "req_1"}`)
}

func TestACreatedKeyIsInTheStateIfALaterStepFails(t *testing.T) {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(refusesToDisable))
	defer server.Close()
	client, err := sealward.New(sealward.Options{URL: server.URL, Credentials: sealward.APIKey("sk_admin_x")})
	if err != nil {
		t.Fatal(err)
	}
	keys, isConfigurable := NewResource().(resource.ResourceWithConfigure)
	if !isConfigurable {
		t.Fatal("the resource has no Configure")
	}
	keys.Configure(ctx, resource.ConfigureRequest{ProviderData: session.New(client, 0)}, &resource.ConfigureResponse{})

	nothing := tftypes.NewValue(attributes.Type().TerraformType(ctx), nil)
	planned := tfsdk.Plan{Schema: attributes, Raw: nothing}
	wanted := resourceModel{key: key{ServiceID: types.StringValue("svc_1"), Status: types.StringValue(disabled)}}
	if found := planned.Set(ctx, &wanted); found.HasError() {
		t.Fatal(found)
	}
	response := resource.CreateResponse{State: tfsdk.State{Schema: attributes, Raw: nothing}}
	keys.Create(ctx, resource.CreateRequest{Plan: planned}, &response)

	var id types.String
	response.State.GetAttribute(ctx, path.Root("id"), &id)
	if id.ValueString() != "key_1" {
		t.Errorf("the state has the ID %s", id)
	}
	errors := response.Diagnostics.Errors()
	if len(errors) != 1 || !strings.Contains(errors[0].Summary(), "key_1 exists, but a later step failed: not allowed (403 FORBIDDEN)") {
		t.Errorf("the errors are %v", errors)
	}
}
