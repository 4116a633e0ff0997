#include "../../../include/fs.h"
