package value

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"sealward.dev/go/admin"
)

// GivenText returns a member of a new resource: unset if there is no text. An empty text is one.
func GivenText(text types.String) admin.Optional[string] {
	if text.IsNull() || text.IsUnknown() {
		return nil
	}
	return admin.Set(text.ValueString())
}

// GivenTexts returns a member of a new resource: unset if there is no set. An empty set is one.
func GivenTexts(set types.Set) admin.Optional[[]string] {
	if set.IsNull() || set.IsUnknown() {
		return nil
	}
	return admin.Set(Strings(set))
}

// OptionalText returns a text. A member without a value is null.
func OptionalText(member admin.Optional[string]) types.String {
	text, isSet := member.Value()
	if !isSet {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// Strings returns the elements of a set of strings: nil if there is no set.
func Strings(set types.Set) []string {
	if set.IsNull() || set.IsUnknown() {
		return nil
	}
	texts := []string{}
	for _, element := range set.Elements() {
		if text, isText := element.(types.String); isText {
			texts = append(texts, text.ValueString())
		}
	}
	return texts
}

// Set returns a set of strings. Nil is null.
func Set(texts []string) types.Set {
	if texts == nil {
		return types.SetNull(types.StringType)
	}
	elements := make([]attr.Value, len(texts))
	for index, text := range texts {
		elements[index] = types.StringValue(text)
	}
	return types.SetValueMust(types.StringType, elements)
}

// Moment returns a time, or nil.
func Moment(text timetypes.RFC3339) *time.Time {
	moment, found := text.ValueRFC3339Time()
	if text.IsNull() || text.IsUnknown() || found.HasError() {
		return nil
	}
	return &moment
}

// Number returns a number. Nil is null.
func Number(number *int) types.Int64 {
	if number == nil {
		return types.Int64Null()
	}
	return types.Int64Value(int64(*number))
}

// TimeText returns the text of a time. It keeps a text that means the same time, perhaps in another zone. Nil is null.
func TimeText(before timetypes.RFC3339, now *time.Time) timetypes.RFC3339 {
	if now == nil {
		return timetypes.NewRFC3339Null()
	}
	if known := Moment(before); known != nil && known.Equal(*now) {
		return before
	}
	return timetypes.NewRFC3339TimeValue(now.UTC())
}

// Filled returns a text. An empty text is null.
func Filled(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}
