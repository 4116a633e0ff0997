#include "../../../include/string.h"
