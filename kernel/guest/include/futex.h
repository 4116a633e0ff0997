#pragma once
#include "types.h"
#define FUTEX_WAKE 1
long do_futex(u32 __user *uaddr, int op, u32 val, ktime_t *timeout, u32 __user *uaddr2, u32 val2, u32 val3);
