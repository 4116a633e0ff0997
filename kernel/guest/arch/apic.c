/* The local APIC in x2APIC mode: timer by TSC deadline, and interprocessor interrupts (arch/x86/kernel/apic). */
#include "sched.h"
#include "apic.h"

void setup_local_APIC(void)
{
	wrmsrl(X2APIC_SPIV, 0x100 | SPURIOUS_APIC_VECTOR);
	wrmsrl(X2APIC_LVTT, LOCAL_TIMER_VECTOR | 1 << 16 | APIC_LVT_TIMER_TSCDEADLINE);
}

void setup_APIC_timer(void)
{
	wrmsrl(X2APIC_LVTT, LOCAL_TIMER_VECTOR | APIC_LVT_TIMER_TSCDEADLINE);
	wrmsrl(MSR_IA32_TSC_DEADLINE, 0);
}

/* The TSC counts nanoseconds, so delta needs no scaling. */
noinline int lapic_next_deadline(unsigned long delta)
{
	wrmsrl(MSR_IA32_TSC_DEADLINE, rdtsc() + delta);
	return 0;
}

static noinline void __x2apic_send_IPI_dest(unsigned int apicid, int vector, unsigned int dest)
{
	wrmsrl(X2APIC_ICR, (u64)apicid << 32 | dest | vector);
}

void x2apic_send_IPI(int cpu, int vector)
{
	smp_mb();		/* the ICR write does not order earlier stores */
	__x2apic_send_IPI_dest(cpu, vector, 0);
}

void x2apic_send_IPI_mask(const struct cpumask *mask, int vector)
{
	unsigned long flags;
	unsigned int cpu;

	smp_mb();
	local_irq_save(flags);
	for_each_cpu(cpu, mask)
		__x2apic_send_IPI_dest(cpu, vector, 0);
	local_irq_restore(flags);
}

void x2apic_send_IPI_allbutself(int vector)
{
	smp_mb();
	wrmsrl(X2APIC_ICR, 3 << 18 | vector);
}

void x2apic_send_IPI_self(int vector)
{
	wrmsrl(X2APIC_SELF, vector);
}

static noinline void native_smp_send_reschedule(int cpu)
{
	x2apic_send_IPI(cpu, RESCHEDULE_VECTOR);
}

void notrace smp_send_reschedule(int cpu)
{
	native_smp_send_reschedule(cpu);
}

/* INIT, then STARTUP. The machine starts the target in long mode at secondary_startup_64 whatever the vector says. */
int wakeup_secondary_cpu_via_init(int phys_apicid, unsigned long start_ip)
{
	smp_mb();
	wrmsrl(X2APIC_ICR, (u64)phys_apicid << 32 | APIC_INT_LEVELTRIG | APIC_INT_ASSERT | APIC_DM_INIT);
	wrmsrl(X2APIC_ICR, (u64)phys_apicid << 32 | APIC_DM_STARTUP | (start_ip >> 12 & 0xff));
	return 0;
}
