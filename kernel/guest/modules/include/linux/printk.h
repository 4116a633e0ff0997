#include "../../../include/printk.h"
