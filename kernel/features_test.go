package kernel

import "testing"

func TestParseFeatures(t *testing.T) {
	rows := []Feature{{"retval", "6.5", "x"}, {"args", "6.15", "y"}}
	got, err := ParseFeatures(" retval,args,retval", rows)
	if got != "args,retval" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	c := Config{Features: got}
	if !c.Feature("args") || c.Feature("arg") || (Config{}).Feature("") {
		t.Error("Feature")
	}
	if _, err := ParseFeatures("retvals", rows); err == nil || err.Error() != `unknown feature "retvals"; there are: retval, args` {
		t.Error(err)
	}
}
