//go:build race

package x86_test

// raceEnabled shortens tests that take ten times as long under the race detector.
const raceEnabled = true
