#include "../../../include/interrupt.h"
