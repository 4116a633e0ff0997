#include "../../../include/cred.h"
