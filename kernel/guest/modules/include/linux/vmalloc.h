#include "../../../include/vmalloc.h"
