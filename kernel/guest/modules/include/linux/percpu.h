#include "../../../include/percpu.h"
