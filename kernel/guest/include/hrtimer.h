#pragma once
#include "timer.h"
