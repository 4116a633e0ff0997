package conform

import (
	"regexp"
	"strings"
)

// rule replaces what matches; the replacement keeps the text around the number, so that a line's shape still counts.
type rule struct {
	re *regexp.Regexp
	to string
	of string // addresses, ids, pids, times or CPU numbers
}

// rules are all that is masked, in order.
var rules = []rule{
	// The columns of a trace line: "            bash-101     [000] .....     3.382064: ".
	{re(`(\S)-\d+( +)\[\d+\] (\S{5}) +\d+\.\d{6}:`), "$1-PID [CPU] $3 TIME:", "pids, CPU numbers, times"},
	{re(`(\S)-\d+( +)\[\d+\] +\d+\.\d{6}:`), "$1-PID [CPU] TIME:", "pids, CPU numbers, times"},
	{re(`(\S)-\d+( +)(\( *[\d-]+\)) \[\d+\] (\S{5}) +\d+\.\d{6}:`), "$1-PID (TGID) [CPU] $4 TIME:", "pids, CPU numbers, times"},
	// latency-format: "      dd-106       1..... 39064us#: ", verbose: "    dd     106   1 0 00000000 00000004 [003a108f] 78.344ms (+0.020ms): ".
	{re(`(\S)-\d+( +)\d+(\S{5,6}) +\d+us[ !#+*@$]:`), "$1-PID CPU$3 TIME:", "pids, CPU numbers, times"},
	{re(`(\S) +\d+ +\d+ (\d) (\d{8}) [0-9a-f]{8} \[[0-9a-f]{8}\] \d+\.\d{3}ms \(\+\d+\.\d{3}ms\):`), "$1 PID CPU $2 $3 SEQ [TIME] TIME:", "pids, CPU numbers, times"},
	{re(`# latency: \d+ us`), "# latency: TIME us", "times"},
	{re(`CPU#\d+ \|`), "CPU#CPU |", "CPU numbers"},
	{re(`\| task: (.*)-\d+ \(`), "| task: $1-PID (", "pids"},
	// function_graph: absolute times, the CPU column, the task column, durations, task switches.
	{re(`^ *\d+\.\d{6} \|`), "TIME |", "times"},
	{re(`^( ?TIME \|)? *\d+\) `), "$1 CPU)", "CPU numbers"},
	{re(`(\) +)(\S+?)-\d+ +(\||=>)`), "$1$2-PID $3", "pids"},
	{re(`=> +(\S+?)-\d+ *$`), "=> $1-PID", "pids"},
	{re(`( *[!#+*@$])? *\d+(\.\d+)? us +\|`), " TIME us |", "times"},
	// Clocks: the kernel log and error_log, stats, dd's report.
	{re(`^\[ *\d+\.\d{6}\]`), "[TIME]", "times"},
	{re(`\bts: +\d+\.\d{6}`), "ts: TIME", "times"},
	{re(`copied, [0-9.e-]+ s, [0-9.]+ .B/s`), "copied, TIME", "times"},
	{re(`\b(delay|timestamp|now|expires|function_expires|timeout|runtime|vruntime)=\d+`), "$1=TIME", "times"},
	{re(`\[(ns|us)\]?=\d+`), "[$1]=TIME", "times"},
	// Fields and headers that hold an id, a pid or a CPU.
	{re(`^ID: \d+$`), "ID: ID", "ids"},
	{re(`\b(pid|old_pid|prev_pid|next_pid|child_pid|common_pid|parent_pid|tgid|grp)=\d+`), "$1=PID", "pids"},
	{re(`\b(cpu|target_cpu|orig_cpu|dest_cpu|prev_cpu|common_cpu)=\d+`), "$1=CPU", "CPU numbers"},
	{re(`^(CPU:)\d+ `), "${1}CPU ", "CPU numbers"},
	// Addresses: of code and data, and what depends on where code lies: offsets and sizes of symbols.
	{re(`\b(0x)?ffff[0-9a-f]{12}\b`), "ADDR", "addresses"},
	{re(`\b0x[0-9a-f]{8,16}\b`), "ADDR", "addresses"},
	{re(`_0x[0-9a-f]{16}\b`), "_ADDR", "addresses"}, // names of probes at addresses: hashes of them
	{re(`\+0x[0-9a-f]+/0x[0-9a-f]+`), "+OFF/SIZE", "addresses"},
}

func re(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// Mask is a line with its addresses, ids, pids, times and CPU numbers replaced by words, and blanks at its begin reduced
// where a column's width depends on them.
func Mask(line string) string {
	if !strings.ContainsAny(line, "0123456789") && !strings.Contains(line, "ffff") {
		return line
	}
	was := line
	for _, r := range rules {
		line = r.re.ReplaceAllString(line, r.to)
	}
	if line != was && strings.Contains(line, "-PID [CPU]") || strings.Contains(line, "-PID CPU") {
		line = strings.TrimLeft(line, " ") // the task's name is right-aligned with its pid
	}
	return line
}
