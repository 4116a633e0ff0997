#include "../../../include/timer.h"
