#include "../../../include/kernel.h"
