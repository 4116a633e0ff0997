#pragma once
/* Numbers in text, with errors (include/linux/kstrtox.h; lib/kstrtox.c). */
#include "types.h"
int kstrtoull(const char *s, unsigned int base, unsigned long long *res);
int kstrtoll(const char *s, unsigned int base, long long *res);
int kstrtouint(const char *s, unsigned int base, unsigned int *res);
int kstrtoint(const char *s, unsigned int base, int *res);
int kstrtou16(const char *s, unsigned int base, u16 *res);
int kstrtos16(const char *s, unsigned int base, s16 *res);
int kstrtou8(const char *s, unsigned int base, u8 *res);
int kstrtos8(const char *s, unsigned int base, s8 *res);
int kstrtobool(const char *s, bool *res);
static inline int kstrtoul(const char *s, unsigned int base, unsigned long *res) { return kstrtoull(s, base, (unsigned long long *)res); }
static inline int kstrtol(const char *s, unsigned int base, long *res) { return kstrtoll(s, base, (long long *)res); }
#define kstrtou64(s, base, res)	kstrtoull(s, base, (unsigned long long *)(res))
#define kstrtos64(s, base, res)	kstrtoll(s, base, (long long *)(res))
#define kstrtou32(s, base, res)	kstrtouint(s, base, res)
#define kstrtos32(s, base, res)	kstrtoint(s, base, res)
