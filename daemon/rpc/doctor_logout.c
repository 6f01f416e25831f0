/* SPDX-License-Identifier: MIT */
/* Whether a logout ends the daemon and its agents. */
#include <stdlib.h>

#include "base/logout.h"
#include "rpc/doctor.h"

void doctor_logout(struct doctor_checks *checks)
{
	struct logout logout;
	char *remedy;

	logout_look(&logout);
	switch (logout.place) {
	case LOGOUT_APART:
		doctor_say(checks, "logout", DOCTOR_OK, NULL, "the daemon belongs to no login session");
		break;
	case LOGOUT_SESSION:
		doctor_say(checks, "logout", DOCTOR_OK, NULL, "the daemon was started in a login session: it stays "
		    "after a logout unless logind.conf says KillUserProcesses=yes, and ends at the next boot");
		break;
	case LOGOUT_MANAGER:
		if (!logout.ends) {
			doctor_say(checks, "logout", DOCTOR_OK, NULL, "the units of %s stay after a logout",
			    logout.user);
			break;
		}
		remedy = logout_remedy(&logout);
		doctor_say(checks, "logout", DOCTOR_WARNING, remedy,
		    "a logout of %s ends the daemon and its agents: they belong to the service manager of that user",
		    logout.user);
		free(remedy);
		break;
	}
	logout_release(&logout);
}
