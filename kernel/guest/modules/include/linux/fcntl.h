#include "../../../include/fcntl.h"
