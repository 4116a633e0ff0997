#include "../../../include/init.h"
