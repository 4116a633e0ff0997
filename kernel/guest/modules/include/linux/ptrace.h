#include "../../../include/ptrace.h"
