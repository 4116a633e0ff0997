#include "../../../include/kthread.h"
