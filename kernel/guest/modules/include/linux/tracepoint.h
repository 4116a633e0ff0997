#include "../../../include/tracepoint.h"
