#pragma once
#include "processor.h"
#define LOCAL_TIMER_VECTOR		0xec
#define KSCOPE_KICK_VECTOR		0xf2
#define IRQ_WORK_VECTOR			0xf6
#define CALL_FUNCTION_SINGLE_VECTOR	0xfb
#define CALL_FUNCTION_VECTOR		0xfc
#define RESCHEDULE_VECTOR		0xfd
#define ERROR_APIC_VECTOR		0xfe
#define SPURIOUS_APIC_VECTOR		0xff
#define X2APIC_ID	0x802
#define X2APIC_EOI	0x80b
#define X2APIC_SPIV	0x80f
#define X2APIC_ICR	0x830
#define X2APIC_LVTT	0x832
#define X2APIC_SELF	0x83f
#define APIC_DM_INIT	0x500
#define APIC_DM_STARTUP	0x600
#define APIC_INT_LEVELTRIG 0x8000
#define APIC_INT_ASSERT	0x4000
#define APIC_LVT_TIMER_TSCDEADLINE (2 << 17)
static __always_inline void ack_APIC_irq(void) { wrmsrl(X2APIC_EOI, 0); }
void setup_local_APIC(void);
void setup_APIC_timer(void);
int lapic_next_deadline(unsigned long delta);
void x2apic_send_IPI(int cpu, int vector);
void x2apic_send_IPI_mask(const struct cpumask *mask, int vector);
void x2apic_send_IPI_allbutself(int vector);
void x2apic_send_IPI_self(int vector);
int wakeup_secondary_cpu_via_init(int phys_apicid, unsigned long start_ip);
