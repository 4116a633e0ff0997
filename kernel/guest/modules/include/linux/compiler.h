#include "../../../include/compiler.h"
