#include "../../../include/pagemap.h"
