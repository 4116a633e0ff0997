#include "../../../include/export.h"
