#include "../../../include/miscdevice.h"
