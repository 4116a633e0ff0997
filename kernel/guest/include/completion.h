#pragma once
#include "mutex.h"
