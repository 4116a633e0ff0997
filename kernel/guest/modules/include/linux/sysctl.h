#include "../../../include/sysctl.h"
