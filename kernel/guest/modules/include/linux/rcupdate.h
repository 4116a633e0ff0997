#include "../../../include/rcupdate.h"
