#include "../../../include/poll.h"
