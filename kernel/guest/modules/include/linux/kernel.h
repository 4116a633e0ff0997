#include "../../../include/kernel.h"
#include "../../../include/kstrtox.h"
