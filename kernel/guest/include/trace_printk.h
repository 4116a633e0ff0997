#pragma once
/*
 * trace_printk (include/linux/kernel.h): printk into the trace. A format that is a constant has a row in section
 * __trace_printk_fmt, and its event keeps only the format's address and the arguments (bprint, bputs); the text is made when
 * the trace is read.
 */
#include "types.h"
#include "string.h"

__printf(2, 3) int __trace_bprintk(unsigned long ip, const char *fmt, ...);
__printf(2, 3) int __trace_printk(unsigned long ip, const char *fmt, ...);
int __trace_bputs(unsigned long ip, const char *str);
int __trace_puts(unsigned long ip, const char *str, int size);
void trace_dump_stack(int skip);
void tracing_on(void);
void tracing_off(void);
int tracing_is_on(void);

#define __trace_here()	({ unsigned long __here; asm volatile("lea 0(%%rip), %0" : "=r" (__here)); __here; })
#define __trace_fmt(fmt)									\
	({ static const char *__fmt __attribute__((used, section("__trace_printk_fmt"))) =	\
		__builtin_constant_p(fmt) ? (fmt) : NULL; __fmt; })
/* Without arguments the text is kept as it is, whatever % it has; the third way is for a format that the program makes. */
#define __trace_printk_args(fmt, args...)							\
	(__builtin_constant_p(fmt) ? __trace_bprintk(__trace_here(), __trace_fmt(fmt), ##args)	\
				   : __trace_printk(__trace_here(), fmt, ##args))
#define trace_puts(str)										\
	(__builtin_constant_p(str) ? __trace_bputs(__trace_here(), __trace_fmt(str))		\
				   : __trace_puts(__trace_here(), str, strlen(str)))
#define __trace_printk_pick(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, name, ...) name
#define trace_printk(fmt...)									\
	__trace_printk_pick(fmt, __trace_printk_args, __trace_printk_args, __trace_printk_args,	\
		__trace_printk_args, __trace_printk_args, __trace_printk_args, __trace_printk_args,	\
		__trace_printk_args, __trace_printk_args, __trace_printk_args, __trace_printk_args,	\
		__trace_printk_args, trace_puts, 0)(fmt)
