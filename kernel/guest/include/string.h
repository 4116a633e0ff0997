#pragma once
/* memcpy, memset, memmove, clear_page: arch/lib_64.S; the rest: lib/string.c, lib/vsprintf.c. */
#include "types.h"
typedef __builtin_va_list va_list;
#define va_start(v, l)	__builtin_va_start(v, l)
#define va_end(v)	__builtin_va_end(v)
#define va_arg(v, l)	__builtin_va_arg(v, l)
#define va_copy(d, s)	__builtin_va_copy(d, s)
void *memcpy(void *d, const void *s, size_t n);
void *memmove(void *d, const void *s, size_t n);
void *memset(void *d, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t n);
char *strcpy(char *d, const char *s);
char *strncpy(char *d, const char *s, size_t n);
ssize_t strscpy(char *d, const char *s, size_t n);
size_t strlcpy(char *d, const char *s, size_t n);
char *strcat(char *d, const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *t);
char *strchrnul(const char *s, int c);
char *strnchr(const char *s, size_t n, int c);
ssize_t strscpy_pad(char *d, const char *s, size_t n);
size_t strspn(const char *s, const char *accept);
size_t strcspn(const char *s, const char *reject);
char *strsep(char **s, const char *ct);
char *skip_spaces(const char *s);
int vsprintf(char *buf, const char *fmt, va_list args);
char *kvasprintf(gfp_t gfp, const char *fmt, va_list ap);
void *memdup_user_nul(const void __user *src, size_t len);
char *kstrdup(const char *s, gfp_t gfp);
__printf(3, 0) int vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
__printf(3, 4) int snprintf(char *buf, size_t size, const char *fmt, ...);
__printf(3, 0) int vscnprintf(char *buf, size_t size, const char *fmt, va_list args);
__printf(3, 4) int scnprintf(char *buf, size_t size, const char *fmt, ...);
__printf(2, 3) int sprintf(char *buf, const char *fmt, ...);
__printf(2, 3) char *kasprintf(gfp_t gfp, const char *fmt, ...);
