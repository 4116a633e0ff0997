#include "../../../include/err.h"
