#include "../../../include/errno.h"
