#include "../../../include/slab.h"
