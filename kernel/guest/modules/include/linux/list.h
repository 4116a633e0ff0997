#include "../../../include/list.h"
