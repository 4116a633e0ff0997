#include "../../../include/seq_file.h"
