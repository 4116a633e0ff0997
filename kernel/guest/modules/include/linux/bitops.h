#include "../../../include/bitops.h"
