/* Random numbers (drivers/char/random.c). */
#ifndef _RANDOM_H
#define _RANDOM_H
#include "types.h"

struct file_operations;
extern const struct file_operations urandom_fops;
void get_random_bytes(void *buf, size_t len);
#endif
