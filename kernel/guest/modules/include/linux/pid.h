#include "../../../include/pid.h"
