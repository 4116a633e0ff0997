#include "../../../include/kallsyms.h"
