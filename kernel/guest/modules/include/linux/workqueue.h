#include "../../../include/workqueue.h"
