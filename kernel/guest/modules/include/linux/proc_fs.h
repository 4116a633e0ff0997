#include "../../../include/proc_fs.h"
