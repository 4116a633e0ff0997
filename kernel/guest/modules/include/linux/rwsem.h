#include "../../../include/rwsem.h"
