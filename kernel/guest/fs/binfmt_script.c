/* "#!" scripts (Linux's fs/binfmt_script.c): the interpreter is started with the script's name as its last argument. */
#include "binfmts.h"
#include "namei.h"
#include "init.h"

static char *next_non_spacetab(char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

static char *next_terminator(char *s)
{
	while (*s && *s != ' ' && *s != '\t')
		s++;
	return s;
}

static int load_script(struct linux_binprm *bprm)
{
	char *i_name, *i_arg = NULL, *end;
	struct file *file;
	int retval;

	if (bprm->buf[0] != '#' || bprm->buf[1] != '!')
		return -ENOEXEC;
	bprm->buf[BINPRM_BUF_SIZE - 1] = 0;
	end = strchr(bprm->buf, '\n');
	if (!end)
		return -ENOEXEC;
	*end = 0;
	while (end > bprm->buf && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = 0;
	i_name = next_non_spacetab(bprm->buf + 2);
	if (!*i_name)
		return -ENOEXEC;
	end = next_terminator(i_name);
	if (*end) {
		*end = 0;
		i_arg = next_non_spacetab(end + 1);
	}
	/* the new argv, back to front: script, optional argument, interpreter */
	retval = remove_arg_zero(bprm);
	if (retval)
		return retval;
	retval = copy_string_kernel(bprm->interp, bprm);
	if (retval < 0)
		return retval;
	bprm->argc++;
	if (i_arg && *i_arg) {
		retval = copy_string_kernel(i_arg, bprm);
		if (retval < 0)
			return retval;
		bprm->argc++;
	}
	retval = copy_string_kernel(i_name, bprm);
	if (retval)
		return retval;
	bprm->argc++;
	retval = bprm_change_interp(i_name, bprm);
	if (retval < 0)
		return retval;
	file = open_exec(i_name);
	if (IS_ERR(file))
		return PTR_ERR(file);
	bprm->interpreter = file;	/* exec_binprm() goes on with it */
	return 0;
}

static struct linux_binfmt script_format = { .load_binary = load_script };

static int __init init_script_binfmt(void)
{
	register_binfmt(&script_format);
	return 0;
}
core_initcall(init_script_binfmt);
