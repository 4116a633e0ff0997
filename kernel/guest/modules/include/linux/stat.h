#include "../../../include/stat.h"
