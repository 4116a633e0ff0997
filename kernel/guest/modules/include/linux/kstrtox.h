#include "../../../include/kstrtox.h"
