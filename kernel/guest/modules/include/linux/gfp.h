#include "../../../include/gfp.h"
