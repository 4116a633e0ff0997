package ftrace

import "kscope/kernel"

// Features are what this package has of kernels later than 6.1.
func Features() []kernel.Feature {
	return []kernel.Feature{
		{Name: featureRetval, Since: "6.5", Doc: "function_graph: options funcgraph-retval and funcgraph-retval-hex, what functions return"},
		{Name: featureRetaddr, Since: "6.13", Doc: "function_graph: option funcgraph-retaddr, where functions were called from"},
		{Name: featureArgs, Since: "6.15", Doc: "function_graph: option funcgraph-args, what functions were called with, by the names in DWARF"},
		{Name: featureInstances, Since: "6.12", Doc: "function_graph in several instances at once, and beside the function profiler"},
		{Name: featureFilterCPUs, Since: "6.6", Doc: "filters of events compare with sets of CPUs: CPU & CPUS{0-3,7}"},
		{Name: featureFilterFunction, Since: "6.3", Doc: "filters of events compare addresses with functions: call_site.function == do_exit"},
	}
}

const (
	featureRetval         = "retval"
	featureRetaddr        = "retaddr"
	featureArgs           = "args"
	featureInstances      = "graph-instances"
	featureFilterCPUs     = "filter-cpus"
	featureFilterFunction = "filter-function"
)

// feature says whether something of a kernel behind 6.1 is switched on.
func (t *Tracer) feature(name string) bool { return t.m != nil && t.m.Feature(name) }
