package x86_test
