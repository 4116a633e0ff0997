#include "../../../include/wait.h"
