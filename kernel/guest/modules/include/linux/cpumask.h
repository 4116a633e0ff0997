#include "../../../include/cpumask.h"
