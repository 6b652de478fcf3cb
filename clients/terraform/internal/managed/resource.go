package managed

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"sealward.dev/go/admin"
	"sealward.dev/terraform/internal/session"
)

// etag is the name under which a state remembers the revision of its resource.
const etag = "etag"

// NewResource returns the constructor of the resources of a kind.
func NewResource[M, R any, P Model[M, R]](kind Kind[M, R]) func() resource.Resource {
	return func() resource.Resource { return &managedResource[M, R, P]{kind: kind} }
}

type managedResource[M, R any, P Model[M, R]] struct {
	kind    Kind[M, R]
	session *session.Session
}

func (r *managedResource[M, R, P]) Metadata(_ context.Context, request resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_" + r.kind.Name
}

func (r *managedResource[M, R, P]) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = r.kind.Schema
}

func (r *managedResource[M, R, P]) Configure(_ context.Context, request resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	// Nothing is configured while a configuration is validated.
	r.session, _ = request.ProviderData.(*session.Session)
}

func (r *managedResource[M, R, P]) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var plan M
	response.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	if response.Diagnostics.HasError() {
		return
	}
	made, err := r.kind.Create(ctx, r.session, plan)
	if err != nil {
		// The state knows what exists, and the next run reads the rest of it.
		if incomplete := (*session.Incomplete)(nil); errors.As(err, &incomplete) {
			response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("id"), incomplete.ID)...)
		}
		session.Report(&response.Diagnostics, "create the "+r.kind.Noun, err)
		return
	}
	r.store(ctx, &plan, made, &response.State, response.Private, &response.Diagnostics)
}

func (r *managedResource[M, R, P]) Read(ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse) {
	var state M
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	if response.Diagnostics.HasError() {
		return
	}
	found, err := r.kind.Read(ctx, r.session, P(&state).Identifier())
	switch {
	case err != nil:
		session.Report(&response.Diagnostics, "read the "+r.kind.Noun, err)
	case found == nil:
		response.State.RemoveResource(ctx)
	default:
		r.store(ctx, &state, found, &response.State, response.Private, &response.Diagnostics)
	}
}

func (r *managedResource[M, R, P]) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var plan, state M
	response.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	unchanged := remembered(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	changed, err := r.kind.Update(ctx, r.session, state, plan, unchanged)
	if err != nil {
		session.Report(&response.Diagnostics, "change the "+r.kind.Noun, err)
		return
	}
	r.store(ctx, &plan, changed, &response.State, response.Private, &response.Diagnostics)
}

func (r *managedResource[M, R, P]) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	var state M
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	unchanged := remembered(ctx, request.Private, &response.Diagnostics)
	if response.Diagnostics.HasError() {
		return
	}
	if err := r.kind.Delete(ctx, r.session, state, unchanged); err != nil && !session.IsGone(err) {
		session.Report(&response.Diagnostics, "delete the "+r.kind.Noun, err)
	}
}

func (r *managedResource[M, R, P]) ImportState(ctx context.Context, request resource.ImportStateRequest, response *resource.ImportStateResponse) {
	id, err := r.kind.identify(ctx, r.session, request.ID)
	if err != nil {
		session.Report(&response.Diagnostics, "import the "+r.kind.Noun, err)
		return
	}
	response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("id"), id)...)
}

// reader reads private data of a state.
type reader interface {
	GetKey(context.Context, string) ([]byte, diag.Diagnostics)
}

// remembered returns the condition that a resource has the revision of its state. A state without a revision makes none.
func remembered(ctx context.Context, private reader, problems *diag.Diagnostics) admin.Option {
	revision, found := private.GetKey(ctx, etag)
	problems.Append(found...)
	var unchanged string
	_ = json.Unmarshal(revision, &unchanged)
	return admin.IfMatch(unchanged)
}

// keeper keeps private data of a state.
type keeper interface {
	SetKey(context.Context, string, []byte) diag.Diagnostics
}

func (r *managedResource[M, R, P]) store(ctx context.Context, model *M, found *R, state *tfsdk.State, private keeper, problems *diag.Diagnostics) {
	problems.Append(P(model).Fill(found)...)
	problems.Append(state.Set(ctx, model)...)
	revision, err := json.Marshal(r.kind.ETag(found))
	if err != nil {
		session.Report(problems, "remember the revision of the "+r.kind.Noun, err)
		return
	}
	problems.Append(private.SetKey(ctx, etag, revision)...)
}
