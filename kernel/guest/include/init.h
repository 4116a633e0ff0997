#pragma once
#include "types.h"
/* notrace: Linux traces these while it boots and forgets their records when it frees their memory. */
#define __init		__attribute__((section(".init.text"))) noinline notrace
#define __initdata	__attribute__((section(".init.data")))
#define __exit
typedef int (*initcall_t)(void);
/* Calls of one level run in link order (files sorted by path); see do_initcalls in init/main.c. */
#define __define_initcall(fn, id) \
	static initcall_t __initcall_##fn __used __attribute__((section(".initcall" #id ".init"))) = fn
#define early_initcall(fn)	__define_initcall(fn, 0)
#define core_initcall(fn)	__define_initcall(fn, 1)
#define postcore_initcall(fn)	__define_initcall(fn, 2)
#define arch_initcall(fn)	__define_initcall(fn, 3)
#define subsys_initcall(fn)	__define_initcall(fn, 4)
#define fs_initcall(fn)		__define_initcall(fn, 5)
#define rootfs_initcall(fn)	__define_initcall(fn, 5r)
#define device_initcall(fn)	__define_initcall(fn, 6)
#define late_initcall(fn)	__define_initcall(fn, 7)
#define module_init(fn)		device_initcall(fn)
