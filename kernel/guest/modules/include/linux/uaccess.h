#include "../../../include/uaccess.h"
