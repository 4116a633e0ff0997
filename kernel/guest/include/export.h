#pragma once
/*
 * EXPORT_SYMBOL (include/linux/export.h): a row of __ksymtab with a name in __ksymtab_strings. The kernel's own exports
 * are in kernel/exports.c; modules write theirs beside the function, as in Linux.
 */
#include "compiler.h"
#undef EXPORT_SYMBOL
#undef EXPORT_SYMBOL_GPL
struct kernel_symbol { int value_offset, name_offset, namespace_offset; };	/* each from its own place; namespace: none */
#define __EXPORT_SYMBOL(sym, sec) \
	asm("	.pushsection __ksymtab_strings, \"aMS\", @progbits, 1\n" \
	    "__kstrtab_" #sym ": .asciz \"" #sym "\"\n	.popsection\n" \
	    "	.pushsection __ksymtab" sec ", \"a\"\n	.balign 4\n" \
	    "__ksymtab_" #sym ": .long " #sym " - .\n	.long __kstrtab_" #sym " - .\n	.long 0\n	.popsection\n")
#define EXPORT_SYMBOL(sym)		__EXPORT_SYMBOL(sym, "")
#define EXPORT_SYMBOL_GPL(sym)		__EXPORT_SYMBOL(sym, "_gpl")
#define EXPORT_PER_CPU_SYMBOL(sym)	EXPORT_SYMBOL(sym)
