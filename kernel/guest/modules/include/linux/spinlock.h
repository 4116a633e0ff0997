#include "../../../include/spinlock.h"
