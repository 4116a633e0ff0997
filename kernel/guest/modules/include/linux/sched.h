#include "../../../include/sched.h"
