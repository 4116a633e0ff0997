#include "../../../include/hrtimer.h"
