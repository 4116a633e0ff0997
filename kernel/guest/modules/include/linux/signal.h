#include "../../../include/signal.h"
