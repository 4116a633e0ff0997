package ftrace

import "kscope/kernel"

// Features are what this package has of kernels later than 6.1.
func Features() []kernel.Feature {
	return []kernel.Feature{
		{Name: featureFilterCPUs, Since: "6.6", Doc: "filters of events compare with sets of CPUs: CPU & CPUS{0-3,7}"},
		{Name: featureFilterFunction, Since: "6.3", Doc: "filters of events compare addresses with functions: call_site.function == do_exit"},
	}
}

const (
	featureFilterCPUs     = "filter-cpus"
	featureFilterFunction = "filter-function"
)
