package kernel

import "testing"

func BenchmarkBoot4(b *testing.B) {
	if _, err := LoadImage(nil); err != nil {
		b.Skip(err)
	}
	for range b.N {
		m, err := New(Config{CPUs: 4})
		if err == nil {
			bare(m)
			err = m.Boot()
		}
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(m.Insns()), "insns/boot")
	}
}

func BenchmarkFork(b *testing.B) {
	m := boot(b, Config{})
	b.ReportAllocs()
	for i := range b.N {
		m.Fork(uint64(i))
	}
}

// BenchmarkKernelMix runs four busy CPUs at the default slice: kthreads that call kscope_hot.
func BenchmarkKernelMix(b *testing.B) {
	m := boot(b, Config{})
	if err := m.Hot(0b1111, 0); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	start := m.Insns()
	for range b.N {
		m.Run(Until{Insns: 1e6})
	}
	b.ReportMetric(float64(m.Insns()-start)/b.Elapsed().Seconds()/1e6, "MIPS")
}
