#include "../../../include/random.h"
