#include "../../../include/smp.h"
