#include "../../../include/completion.h"
