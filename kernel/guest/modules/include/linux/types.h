#include "../../../include/types.h"
