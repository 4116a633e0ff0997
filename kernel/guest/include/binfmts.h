/* A program on its way into a task (Linux's include/linux/binfmts.h). */
#ifndef _BINFMTS_H
#define _BINFMTS_H
#include "fs.h"
#include "mm.h"

#define BINPRM_BUF_SIZE	256
#define MAX_ARG_STRLEN	(PAGE_SIZE * 32)
#define MAX_ARG_STRINGS	0x7fffffff
#define MAX_ARG_PAGES	32

struct linux_binprm {
	struct vm_area_struct *vma;	/* the stack to be, at STACK_TOP_MAX until setup_arg_pages() */
	struct mm_struct *mm;
	unsigned long p;		/* top of what is written so far */
	unsigned long argmin;		/* lowest p allowed */
	struct file *file, *interpreter;
	struct cred *cred;
	int argc, envc;
	const char *filename, *interp;
	unsigned long exec;		/* user address of the file name */
	unsigned int point_of_no_return:1;
	unsigned int unsafe_share:1;	/* the fs_struct is shared: no set-id identity (LSM_UNSAFE_SHARE) */
	char buf[BINPRM_BUF_SIZE];	/* the file's first bytes */
};

struct linux_binfmt {
	struct list_head lh;
	struct module *module;		/* keeps it while programs of the format run */
	int (*load_binary)(struct linux_binprm *);
};

void set_binfmt(struct linux_binfmt *new);
void register_binfmt(struct linux_binfmt *fmt);
int begin_new_exec(struct linux_binprm *bprm);
void setup_new_exec(struct linux_binprm *bprm);
void finalize_exec(struct linux_binprm *bprm);
int setup_arg_pages(struct linux_binprm *bprm, unsigned long stack_top, int executable_stack);
int copy_string_kernel(const char *arg, struct linux_binprm *bprm);
struct file *open_exec(const char *name);
int bprm_change_interp(const char *interp, struct linux_binprm *bprm);
int remove_arg_zero(struct linux_binprm *bprm);
#endif
