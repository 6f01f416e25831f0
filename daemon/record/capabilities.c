/* SPDX-License-Identifier: MIT */
#include "record/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int capabilities_set(uint32_t permitted, uint32_t effective, uint32_t passed)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .permitted = permitted, .effective = effective, .inheritable = passed }
	};

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1 || syscall(SYS_capset, &header, data) == -1)
		return -errno;
	for (unsigned cap = 0; cap < 32; cap++)
		if ((passed & 1u << cap) != 0 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) == -1)
			return -errno;
	return 0;
}
