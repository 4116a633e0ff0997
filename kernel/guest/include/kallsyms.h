/* Address to symbol text, as in Linux's kernel/kallsyms.c. Symbols come from a table that the build links behind the text. */
#ifndef _KALLSYMS_H
#define _KALLSYMS_H
#include "types.h"

#define KSYM_NAME_LEN	128
#define KSYM_SYMBOL_LEN	(KSYM_NAME_LEN + 64)

const char *kallsyms_lookup(unsigned long addr, unsigned long *size, unsigned long *offset);
bool kallsyms_get_symbol(u32 i, unsigned long *addr, char *type, const char **name);
unsigned long kallsyms_lookup_name(const char *name);
int sprint_symbol(char *buffer, unsigned long address);
int sprint_symbol_no_offset(char *buffer, unsigned long address);
int sprint_backtrace(char *buffer, unsigned long address);	/* looks address-1 up: a return address */
#endif
