/* Static ELF64 programs (Linux's fs/binfmt_elf.c). */
#include "binfmts.h"
#include "elf.h"
#include "sched.h"
#include "slab.h"
#include "uaccess.h"
#include "init.h"
#include "random.h"

#define ELF_MIN_ALIGN		PAGE_SIZE
#define ELF_PAGESTART(v)	((v) & ~(ELF_MIN_ALIGN - 1))
#define ELF_PAGEOFFSET(v)	((v) & (ELF_MIN_ALIGN - 1))
#define ELF_PAGEALIGN(v)	(((v) + ELF_MIN_ALIGN - 1) & ~(ELF_MIN_ALIGN - 1))

/* Where a program that does not care is loaded (ELF_ET_DYN_BASE without randomisation). */
#define ELF_ET_DYN_BASE		0x555555554000UL

static noinline struct elf64_phdr *load_elf_phdrs(const struct elf64_hdr *elf_ex, struct file *elf_file)
{
	unsigned int size = sizeof(struct elf64_phdr) * elf_ex->e_phnum;
	struct elf64_phdr *phdata;
	loff_t pos = elf_ex->e_phoff;

	if (elf_ex->e_phentsize != sizeof(struct elf64_phdr))
		return NULL;
	if (size == 0 || size > PAGE_SIZE)
		return NULL;
	phdata = kmalloc(size, GFP_KERNEL);
	if (!phdata)
		return NULL;
	if (kernel_read(elf_file, phdata, size, &pos) != (ssize_t)size) {
		kfree(phdata);
		return NULL;
	}
	return phdata;
}

static int make_prot(u32 p_flags)
{
	return (p_flags & PF_R ? PROT_READ : 0) | (p_flags & PF_W ? PROT_WRITE : 0) | (p_flags & PF_X ? PROT_EXEC : 0);
}

/* Maps the part of a segment that is in the file. */
static noinline unsigned long elf_map(struct file *filep, unsigned long addr, const struct elf64_phdr *eppnt, int prot, int type)
{
	unsigned long size = ELF_PAGEALIGN(eppnt->p_filesz + ELF_PAGEOFFSET(eppnt->p_vaddr));
	unsigned long off = eppnt->p_offset - ELF_PAGEOFFSET(eppnt->p_vaddr);

	addr = ELF_PAGESTART(addr);
	if (!size)
		return addr;
	return vm_mmap(filep, addr, size, prot, type, off);
}

/* The rest of the file's last page is not the program's: it must read as zeros. */
static noinline int padzero(unsigned long elf_bss)
{
	unsigned long nbyte = ELF_PAGEOFFSET(elf_bss);

	if (nbyte && clear_user((void __user *)elf_bss, ELF_MIN_ALIGN - nbyte))
		return -EFAULT;
	return 0;
}

static noinline unsigned long elf_load(struct file *filep, unsigned long addr, const struct elf64_phdr *eppnt, int prot, int type)
{
	unsigned long zero_start, zero_end, map_addr;

	if (eppnt->p_filesz) {
		map_addr = elf_map(filep, addr, eppnt, prot, type);
		if (IS_ERR_VALUE(map_addr))
			return map_addr;
		if (eppnt->p_memsz <= eppnt->p_filesz)
			return map_addr;
		zero_start = map_addr + ELF_PAGEOFFSET(eppnt->p_vaddr) + eppnt->p_filesz;
		zero_end = map_addr + ELF_PAGEOFFSET(eppnt->p_vaddr) + eppnt->p_memsz;
		if (padzero(zero_start) && (prot & PROT_WRITE))
			return -EFAULT;
	} else {
		map_addr = zero_start = ELF_PAGESTART(addr);
		zero_end = zero_start + ELF_PAGEOFFSET(eppnt->p_vaddr) + eppnt->p_memsz;
	}
	zero_start = ELF_PAGEALIGN(zero_start);
	zero_end = ELF_PAGEALIGN(zero_end);
	if (zero_end > zero_start) {
		int error = vm_brk_flags(zero_start, zero_end - zero_start, prot & PROT_EXEC ? VM_EXEC : 0);

		if (error)
			return error;
	}
	return map_addr;
}

#define STACK_ALLOC(sp, len)	({ sp -= (len); (void __user *)(sp); })
#define NEW_AUX_ENT(id, val)	do { *elf_info++ = (id); *elf_info++ = (val); } while (0)

static inline u64 *fill_auxv(u64 *elf_info, struct linux_binprm *bprm, const struct elf64_hdr *exec, unsigned long phdr_addr,
		      unsigned long e_entry, unsigned long u_rand, unsigned long u_platform)
{
	const struct cred *cred = current_cred();

	NEW_AUX_ENT(AT_HWCAP, 0);
	NEW_AUX_ENT(AT_PAGESZ, ELF_MIN_ALIGN);
	NEW_AUX_ENT(AT_CLKTCK, 100);
	NEW_AUX_ENT(AT_PHDR, phdr_addr);
	NEW_AUX_ENT(AT_PHENT, sizeof(struct elf64_phdr));
	NEW_AUX_ENT(AT_PHNUM, exec->e_phnum);
	NEW_AUX_ENT(AT_BASE, 0);
	NEW_AUX_ENT(AT_FLAGS, 0);
	NEW_AUX_ENT(AT_ENTRY, e_entry);
	NEW_AUX_ENT(AT_UID, from_kuid_munged(cred->user_ns, cred->uid));
	NEW_AUX_ENT(AT_EUID, from_kuid_munged(cred->user_ns, cred->euid));
	NEW_AUX_ENT(AT_GID, from_kgid_munged(cred->user_ns, cred->gid));
	NEW_AUX_ENT(AT_EGID, from_kgid_munged(cred->user_ns, cred->egid));
	NEW_AUX_ENT(AT_SECURE, !uid_eq(cred->uid, cred->euid));
	NEW_AUX_ENT(AT_RANDOM, u_rand);
	NEW_AUX_ENT(AT_EXECFN, bprm->exec);
	NEW_AUX_ENT(AT_PLATFORM, u_platform);
	NEW_AUX_ENT(AT_NULL, 0);
	return elf_info;
}

/* The pointers of one vector, whose strings follow each other from *@p. */
static __always_inline int put_vector(unsigned long __user **sp, int n, unsigned long *p)
{
	while (n-- > 0) {
		long len;

		if (put_user(*p, (*sp)++))
			return -EFAULT;
		len = strnlen_user((void __user *)*p, MAX_ARG_STRLEN);
		if (!len || len > (long)MAX_ARG_STRLEN)
			return -EINVAL;
		*p += len;
	}
	return put_user(0UL, (*sp)++);
}

/*
 * The stack as a program finds it, from the stack pointer upwards:
 *	argc | argv[] NULL | envp[] NULL | auxv | gap | 16 random bytes | "x86_64" | argument and environment strings | name
 */
static int create_elf_tables(struct linux_binprm *bprm, const struct elf64_hdr *exec, unsigned long phdr_addr,
				      unsigned long e_entry)
{
	static const char k_platform[] = "x86_64";
	unsigned long p = bprm->p & ~15UL, u_platform, u_rand, arg;
	struct mm_struct *mm = current->mm;
	unsigned long __user *sp;
	u64 auxv[40], *end;
	u8 rnd[16];
	int items, ei_bytes;

	u_platform = (unsigned long)STACK_ALLOC(p, sizeof(k_platform));
	if (copy_to_user((void __user *)u_platform, k_platform, sizeof(k_platform)))
		return -EFAULT;
	get_random_bytes(rnd, sizeof(rnd));
	u_rand = (unsigned long)STACK_ALLOC(p, sizeof(rnd));
	if (copy_to_user((void __user *)u_rand, rnd, sizeof(rnd)))
		return -EFAULT;
	end = fill_auxv(auxv, bprm, exec, phdr_addr, e_entry, u_rand, u_platform);
	ei_bytes = (end - auxv) * sizeof(u64);
	items = bprm->argc + 1 + bprm->envc + 1 + 1;
	p = (p - items * sizeof(long) - ei_bytes) & ~15UL;
	sp = (unsigned long __user *)p;
	bprm->p = p;
	if (put_user((unsigned long)bprm->argc, sp++))
		return -EFAULT;
	arg = mm->arg_start;
	if (put_vector(&sp, bprm->argc, &arg))
		return -EFAULT;
	mm->arg_end = mm->env_start = arg;
	if (put_vector(&sp, bprm->envc, &arg))
		return -EFAULT;
	mm->env_end = arg;
	return copy_to_user(sp, auxv, ei_bytes) ? -EFAULT : 0;
}

static int elf_check_header(const struct elf64_hdr *ex, struct file *file)
{
	if (memcmp(ex->e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (ex->e_type != ET_EXEC && ex->e_type != ET_DYN)
		return -ENOEXEC;
	if (ex->e_machine != EM_X86_64 || !file->f_op->mmap)
		return -ENOEXEC;
	return 0;
}

struct layout {
	unsigned long start_code, end_code, start_data, end_data, elf_brk, phdr_addr, load_bias;
};

/* Maps one PT_LOAD and keeps account of the program's limits. */
static int load_segment(struct linux_binprm *bprm, const struct elf64_hdr *ex, const struct elf64_phdr *ppnt, struct layout *l)
{
	unsigned long vaddr = ppnt->p_vaddr, k, error;

	if (ppnt->p_filesz > ppnt->p_memsz || ppnt->p_memsz > TASK_SIZE || vaddr + l->load_bias >= TASK_SIZE ||
	    TASK_SIZE - ppnt->p_memsz < vaddr + l->load_bias)
		return -EINVAL;
	error = elf_load(bprm->file, l->load_bias + vaddr, ppnt, make_prot(ppnt->p_flags), MAP_PRIVATE | MAP_FIXED);
	if (IS_ERR_VALUE(error))
		return (long)error;
	if (ppnt->p_offset <= ex->e_phoff && ex->e_phoff < ppnt->p_offset + ppnt->p_filesz)
		l->phdr_addr = ex->e_phoff - ppnt->p_offset + vaddr + l->load_bias;
	k = vaddr + l->load_bias;
	if ((ppnt->p_flags & PF_X) && k < l->start_code)
		l->start_code = k;
	if (l->start_data < k)
		l->start_data = k;
	k += ppnt->p_filesz;
	if ((ppnt->p_flags & PF_X) && l->end_code < k)
		l->end_code = k;
	if (l->end_data < k)
		l->end_data = k;
	k = vaddr + l->load_bias + ppnt->p_memsz;
	if (k > l->elf_brk)
		l->elf_brk = k;
	return 0;
}

static struct linux_binfmt elf_format;

static int load_elf_binary(struct linux_binprm *bprm)
{
	struct elf64_hdr *elf_ex = (struct elf64_hdr *)bprm->buf;
	struct layout l = { .start_code = ~0UL };
	struct pt_regs *regs = current_pt_regs();
	struct elf64_phdr *elf_phdata;
	struct mm_struct *mm;
	unsigned long e_entry;
	int retval = elf_check_header(elf_ex, bprm->file);

	if (retval)
		return retval;
	retval = -ENOEXEC;
	elf_phdata = load_elf_phdrs(elf_ex, bprm->file);
	if (!elf_phdata)
		return retval;
	for (int i = 0; i < elf_ex->e_phnum; i++)
		if (elf_phdata[i].p_type == PT_INTERP)
			goto out;	/* dynamic programs are not supported: Linux would load the interpreter here */
	retval = begin_new_exec(bprm);
	if (retval)
		goto out;
	setup_new_exec(bprm);
	retval = setup_arg_pages(bprm, STACK_TOP, 0);
	if (retval < 0)
		goto out;
	if (elf_ex->e_type == ET_DYN)
		l.load_bias = ELF_ET_DYN_BASE;
	for (int i = 0; i < elf_ex->e_phnum; i++) {
		if (elf_phdata[i].p_type != PT_LOAD)
			continue;
		retval = load_segment(bprm, elf_ex, &elf_phdata[i], &l);
		if (retval)
			goto out;
	}
	e_entry = elf_ex->e_entry + l.load_bias;
	retval = -EINVAL;
	if (e_entry >= TASK_SIZE)	/* BAD_ADDR */
		goto out;
	set_binfmt(&elf_format);
	retval = create_elf_tables(bprm, elf_ex, l.phdr_addr, e_entry);
	if (retval < 0)
		goto out;
	mm = current->mm;
	mm->end_code = l.end_code;
	mm->start_code = l.start_code;
	mm->start_data = l.start_data;
	mm->end_data = l.end_data;
	mm->start_stack = bprm->p;
	mm->start_brk = mm->brk = ELF_PAGEALIGN(l.elf_brk);
	finalize_exec(bprm);
	start_thread(regs, e_entry, bprm->p);
	retval = 0;
out:
	kfree(elf_phdata);
	return retval;
}

static struct linux_binfmt elf_format = { .load_binary = load_elf_binary };

static int __init init_elf_binfmt(void)
{
	register_binfmt(&elf_format);
	return 0;
}
core_initcall(init_elf_binfmt);
