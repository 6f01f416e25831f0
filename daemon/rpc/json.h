/* SPDX-License-Identifier: MIT */
/* The former place of engine/json.h. */
#include "engine/json.h"
