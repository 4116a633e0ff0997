#pragma once
/* Programs that the kernel starts, and modules that it asks for (include/linux/umh.h, kmod.h; kernel/umh.c, kernel/module/kmod.c). */
#include "types.h"
#define UMH_NO_WAIT	0
#define UMH_WAIT_EXEC	1
#define UMH_WAIT_PROC	2
int call_usermodehelper(const char *path, char **argv, char **envp, int wait);
__printf(2, 3) int __request_module(bool wait, const char *fmt, ...);
#define request_module(fmt, ...)	__request_module(true, fmt, ##__VA_ARGS__)
