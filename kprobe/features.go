package kprobe

import "kscope/kernel"

// Features are what this package has of kernels later than 6.1.
func Features() []kernel.Feature {
	return []kernel.Feature{
		{Name: featureProbeArgs, Since: "6.6", Doc: "kprobe_events: arguments by name, their fields (file->f_path.dentry), bit fields, $arg*, $retval->f_flags"},
	}
}
