#pragma once
#include "compiler.h"
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long u64;
typedef signed char s8; typedef short s16; typedef int s32; typedef long s64;
typedef u8 __u8; typedef u16 __u16; typedef u32 __u32; typedef u64 __u64; typedef s32 __s32; typedef s64 __s64;
typedef unsigned long size_t; typedef long ssize_t; typedef long loff_t; typedef long ptrdiff_t;
typedef unsigned long uintptr_t, ulong; typedef unsigned int uint; typedef unsigned short ushort;
typedef int pid_t; typedef unsigned int uid_t; typedef unsigned int gid_t;
typedef unsigned short umode_t; typedef u32 dev_t; typedef u64 ino_t; typedef u64 sector_t; typedef u64 blkcnt_t;
typedef unsigned int gfp_t; typedef unsigned int fmode_t; typedef long time64_t; typedef s64 ktime_t;
typedef u64 phys_addr_t; typedef int clockid_t;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)
typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic64_t;
typedef atomic64_t atomic_long_t;
typedef struct { uid_t val; } kuid_t;
typedef struct { gid_t val; } kgid_t;
struct list_head { struct list_head *next, *prev; };
struct hlist_head { struct hlist_node *first; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct rcu_head { struct rcu_head *next; void (*func)(struct rcu_head *head); };
struct pt_regs;
struct task_struct;
struct file;
struct page;
struct page;
struct address_space;
struct cpumask;
struct mm_struct;
struct vm_area_struct;
