#include "../../../include/blkdev.h"
