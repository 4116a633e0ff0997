#include "../../../include/mutex.h"
