package value

import (
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/go/admin"
)

func TestEmptyIsNotAbsent(t *testing.T) {
	empty := types.SetValueMust(types.StringType, []attr.Value{})
	null, unknown := types.SetNull(types.StringType), types.SetUnknown(types.StringType)
	for _, absent := range []types.Set{null, unknown} {
		if texts := Strings(absent); texts != nil {
			t.Errorf("%v: %#v", absent, texts)
		}
		if member := GivenTexts(absent); member != nil {
			t.Errorf("%v: %#v", absent, member)
		}
	}
	if texts := Strings(empty); texts == nil || len(texts) != 0 {
		t.Errorf("%#v", texts)
	}
	wanted := admin.Set([]string{})
	if member := GivenTexts(empty); !reflect.DeepEqual(member, wanted) {
		t.Errorf("%#v", member)
	}
	if member := Texts(empty, null); !reflect.DeepEqual(member, wanted) {
		t.Errorf("%#v", member)
	}
	if member := Texts(null, empty); !reflect.DeepEqual(member, admin.Null[[]string]()) {
		t.Errorf("%#v", member)
	}
	for text, wanted := range map[types.String]admin.Optional[string]{
		types.StringValue(""): admin.Set(""), types.StringNull(): nil, types.StringUnknown(): nil,
	} {
		if member := GivenText(text); !reflect.DeepEqual(member, wanted) {
			t.Errorf("%v: %#v", text, member)
		}
		if isText := OptionalText(wanted); text.IsNull() != isText.IsNull() && !text.IsUnknown() {
			t.Errorf("%v: %v", text, isText)
		}
	}
}
