#include "../../../include/trace_events.h"
