#include "../../../include/kprobes.h"
