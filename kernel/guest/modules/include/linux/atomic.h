#include "../../../include/atomic.h"
