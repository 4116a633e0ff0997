#include "../../../include/notifier.h"
