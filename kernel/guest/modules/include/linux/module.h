#include "../../../include/module.h"
