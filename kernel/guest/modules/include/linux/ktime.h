#include "../../../include/ktime.h"
