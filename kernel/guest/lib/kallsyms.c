/* See kallsyms.h. The table is linked into the image by a second pass; without one, addresses print as hex. */
#include "kallsyms.h"
#include "kernel.h"
#include "module.h"

extern const u32 kallsyms_num_syms __attribute__((weak));
extern const u32 kallsyms_offsets[] __attribute__((weak));	/* from _text, rising */
extern const u32 kallsyms_name_offs[] __attribute__((weak));	/* into kallsyms_names */
extern const char kallsyms_names[] __attribute__((weak));	/* NUL-terminated, each behind its nm letter */
extern char _text[], _etext[];

static bool is_kernel_text(unsigned long addr)
{
	return addr >= (unsigned long)_text && addr < (unsigned long)_etext;
}

/* The number of the last symbol at or below @addr. */
static unsigned int get_symbol_pos(unsigned long addr, unsigned long *size, unsigned long *offset)
{
	unsigned long rel = addr - (unsigned long)_text, low = 0, high = kallsyms_num_syms, next;

	while (high - low > 1) {
		unsigned long mid = low + (high - low) / 2;

		if (kallsyms_offsets[mid] <= rel)
			low = mid;
		else
			high = mid;
	}
	while (low && kallsyms_offsets[low - 1] == kallsyms_offsets[low])
		low--;		/* the first of several names of one address */
	for (next = low + 1; next < kallsyms_num_syms && kallsyms_offsets[next] == kallsyms_offsets[low]; next++)
		;
	high = next < kallsyms_num_syms ? kallsyms_offsets[next] : (unsigned long)(_etext - _text);
	*size = high - kallsyms_offsets[low];
	*offset = rel - kallsyms_offsets[low];
	return low;
}

const char *kallsyms_lookup(unsigned long addr, unsigned long *size, unsigned long *offset)
{
	const char *name;

	if (!&kallsyms_num_syms || !kallsyms_num_syms || !is_kernel_text(addr))
		return NULL;
	name = kallsyms_names + kallsyms_name_offs[get_symbol_pos(addr, size, offset)];
	return *name ? name + 1 : NULL;	/* no name: padding between two objects */
}

unsigned long kallsyms_lookup_name(const char *name)
{
	if (!&kallsyms_num_syms)
		return 0;
	for (u32 i = 0; i < kallsyms_num_syms; i++) {
		const char *n = kallsyms_names + kallsyms_name_offs[i];

		if (*n && !strcmp(n + 1, name))
			return (unsigned long)_text + kallsyms_offsets[i];
	}
	return module_kallsyms_lookup_name(name);
}

/* The @i-th symbol in address order; false behind the last. An empty name is padding. */
bool kallsyms_get_symbol(u32 i, unsigned long *addr, char *type, const char **name)
{
	const char *n;

	if (!&kallsyms_num_syms || i >= kallsyms_num_syms)
		return false;
	n = kallsyms_names + kallsyms_name_offs[i];
	*addr = (unsigned long)_text + kallsyms_offsets[i];
	*type = *n;
	*name = *n ? n + 1 : n;
	return true;
}

static int __sprint_symbol(char *buffer, unsigned long address, int symbol_offset, bool add_offset)
{
	unsigned long size, offset;
	const char *name, *modname = NULL;
	int len;

	address += symbol_offset;
	name = kallsyms_lookup(address, &size, &offset);
	if (!name)
		name = module_address_lookup(address, &size, &offset, &modname);
	if (!name)
		return sprintf(buffer, "0x%lx", address - symbol_offset);
	if (add_offset)
		len = sprintf(buffer, "%s+0x%lx/0x%lx", name, offset - symbol_offset, size);
	else
		len = sprintf(buffer, "%s", name);
	if (modname)
		len += sprintf(buffer + len, " [%s]", modname);
	return len;
}

int sprint_symbol(char *buffer, unsigned long address)
{
	return __sprint_symbol(buffer, address, 0, true);
}

int sprint_symbol_no_offset(char *buffer, unsigned long address)
{
	return __sprint_symbol(buffer, address, 0, false);
}

int sprint_backtrace(char *buffer, unsigned long address)
{
	return __sprint_symbol(buffer, address, -1, true);
}
