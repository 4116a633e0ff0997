#include "../../../include/moduleparam.h"
