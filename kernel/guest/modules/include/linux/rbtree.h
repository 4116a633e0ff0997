#include "../../../include/rbtree.h"
