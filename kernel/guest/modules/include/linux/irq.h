#include "../../../include/irq.h"
