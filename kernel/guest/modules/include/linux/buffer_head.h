#include "../../../include/buffer_head.h"
