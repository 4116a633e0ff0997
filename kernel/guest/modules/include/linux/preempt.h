#include "../../../include/preempt.h"
