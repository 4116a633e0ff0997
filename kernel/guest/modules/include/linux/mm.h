#include "../../../include/mm.h"
