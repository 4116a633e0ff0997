#include "../../../include/kmod.h"
