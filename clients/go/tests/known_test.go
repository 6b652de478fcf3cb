package tests

func known() any { return map[string]any{"operations": []string{}, "schemas": map[string]any{}} }
