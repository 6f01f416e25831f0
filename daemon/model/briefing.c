/* SPDX-License-Identifier: MIT */
#include "model/briefing.h"

#include <stdlib.h>

#include "core/row.h"

void briefing_release(struct briefing *briefing)
{
	for (size_t i = 0; i < briefing->nstories; i++) {
		free(briefing->stories[i].id);
		free(briefing->stories[i].title);
		free(briefing->stories[i].text);
		free(briefing->stories[i].hash);
	}
	free(briefing->stories);
	free(briefing->text);
	row_free(ROW_JUDGE, briefing->judge);
	*briefing = (struct briefing){ 0 };
}
