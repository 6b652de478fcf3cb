package managed

import "testing"

func TestOnlyTheExactFormIsAnID(t *testing.T) {
	const id = "svc_01h455vb4pex5vsknk084sn02q"
	if !IsID("svc_", id) {
		t.Errorf("%s is an ID", id)
	}
	for _, name := range []string{"", "svc_", "svc_shop", "pol_01h455vb4pex5vsknk084sn02q", "SVC_01h455vb4pex5vsknk084sn02q", "svc_01H455VB4PEX5VSKNK084SN02Q", id + "0", id + "\n"} {
		if IsID("svc_", name) {
			t.Errorf("%q is no ID", name)
		}
	}
}
