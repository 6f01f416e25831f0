/* SPDX-License-Identifier: MIT */
#include "core/schedule.h"
