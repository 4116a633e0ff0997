#include "../../../include/xarray.h"
