/* SPDX-License-Identifier: MIT */
/* Our reading of the tz database against the C library's, zone by zone; clock changes, POSIX rules,
 * and files that are none. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/zone.h"
#include "proto/memory.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define HOUR 3600
#define DAY 86400

/* As the C library sees it, which may have a TZ here. */
static int64_t expected_offset(const char *name, int64_t moment)
{
	static char current[128];
	time_t t = (time_t)moment;
	struct tm tm;

	if (strcmp(current, name) != 0) {
		snprintf(current, sizeof(current), "%s", name);
		setenv("TZ", name, 1);
		tzset();
	}
	localtime_r(&t, &tm);
	return tm.tm_gmtoff;
}

static void compare(const char *name, int64_t from, int64_t to, int64_t step)
{
	struct zone *zone = zone_open(ZONE_DATABASE, name);

	ck_assert_msg(zone != NULL, "%s", name);
	for (int64_t t = from; t < to; t += step)
		ck_assert_msg(zone_offset(zone, t) == expected_offset(name, t), "%s at %lld: %lld",
		    name, (long long)t, (long long)zone_offset(zone, t));
	zone_close(zone);
}

static const char *const zones[] = {
	"UTC", "GMT", "Etc/UTC", "Europe/Berlin", "Europe/London", "Europe/Dublin",
	"America/New_York", "America/Los_Angeles", "America/St_Johns", "America/Sao_Paulo",
	"America/Santiago", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tokyo", "Asia/Shanghai",
	"Asia/Gaza", "Australia/Sydney", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham",
	"Africa/Casablanca", "Africa/Cairo", "Antarctica/Troll", "America/Scoresbysund", "EST5EDT",
	"CET", ":Europe/Berlin", "/usr/share/zoneinfo/Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3",
	"EST5EDT,M3.2.0,M11.1.0", "<+0330>-3:30", "NZST-12NZDT,M9.5.0,M4.1.0/3",
	"XYZ3ABC2,J60/1,J300/0:30", "XYZ-5ABC,59/24,299/-1", "IST-1GMT0,M10.5.0,M3.5.0/1", "UTC0",
};

/* Each half hour of some years, those behind the end of the tables too. */
START_TEST(as_the_c_library)
{
	compare(zones[_i], zone_days(2026, 1, 1) * DAY, zone_days(2028, 1, 1) * DAY, HOUR / 2);
	compare(zones[_i], zone_days(2036, 1, 1) * DAY, zone_days(2039, 1, 1) * DAY, HOUR);
	compare(zones[_i], zone_days(2090, 1, 1) * DAY, zone_days(2092, 1, 1) * DAY, HOUR);
}
END_TEST

/* Every zone of the database, back to times that tables begin with. */
START_TEST(every_zone)
{
	FILE *table = fopen(ZONE_DATABASE "/zone1970.tab", "re");
	char line[512], name[128];
	size_t count = 0;

	ck_assert_msg(table != NULL, "tzdata is not installed");
	while (fgets(line, sizeof(line), table) != NULL) {
		if (line[0] == '#' || sscanf(line, "%*s %*s %127s", name) != 1)
			continue;
		compare(name, -3000000000, 4500000000, 40 * DAY + 7 * HOUR);
		count++;
	}
	fclose(table);
	ck_assert_uint_gt(count, 200);
}
END_TEST

START_TEST(calendar)
{
	for (int64_t day = -200000; day < 200000; day++) {
		time_t t = (time_t)(day * DAY);
		struct tm tm;
		int64_t year;
		int month, date;

		gmtime_r(&t, &tm);
		zone_date(day, &year, &month, &date);
		ck_assert(year == tm.tm_year + 1900 && month == tm.tm_mon + 1 && date == tm.tm_mday);
		ck_assert_int_eq(zone_days(year, month, date), day);
	}
}
END_TEST

/* Clocks of the nights in which they are changed, in UTC. */
static const struct {
	const char *zone;
	int month, day, hour, minute;
	int first[3], second[3];	/* day, hour, minute */
} nights[] = {
	{ "Europe/Berlin", 3, 29, 1, 59, { 29, 0, 59 }, { 29, 0, 59 } },
	/* left out: shown as 3:00 */
	{ "Europe/Berlin", 3, 29, 2, 0, { 29, 1, 0 }, { 29, 1, 0 } },
	{ "Europe/Berlin", 3, 29, 2, 59, { 29, 1, 59 }, { 29, 1, 59 } },
	{ "Europe/Berlin", 3, 29, 3, 0, { 29, 1, 0 }, { 29, 1, 0 } },
	{ "Europe/Berlin", 10, 25, 1, 59, { 24, 23, 59 }, { 24, 23, 59 } },
	{ "Europe/Berlin", 10, 25, 2, 0, { 25, 0, 0 }, { 25, 1, 0 } },		/* twice */
	{ "Europe/Berlin", 10, 25, 2, 59, { 25, 0, 59 }, { 25, 1, 59 } },
	{ "Europe/Berlin", 10, 25, 3, 0, { 25, 2, 0 }, { 25, 2, 0 } },
	{ "America/New_York", 3, 8, 2, 30, { 8, 7, 30 }, { 8, 7, 30 } },
	{ "America/New_York", 11, 1, 1, 30, { 1, 5, 30 }, { 1, 6, 30 } },
	{ "America/New_York", 11, 1, 2, 0, { 1, 7, 0 }, { 1, 7, 0 } },
	{ "Australia/Lord_Howe", 4, 5, 1, 45, { 4, 14, 45 }, { 4, 15, 15 } },
	{ NULL, 7, 1, 12, 0, { 1, 12, 0 }, { 1, 12, 0 } },
};

static int64_t moment(int month, int day, int hour, int minute)
{
	return zone_days(2026, month, day) * DAY + hour * HOUR + minute * 60;
}

START_TEST(clock_changes)
{
	struct zone *zone = nights[_i].zone != NULL ? zone_open(ZONE_DATABASE, nights[_i].zone) : NULL;
	int month = nights[_i].month;
	int64_t moments[2];

	zone_local_to_utc(zone, moment(month, nights[_i].day, nights[_i].hour, nights[_i].minute), moments);
	ck_assert_int_eq(moments[0], moment(month, nights[_i].first[0], nights[_i].first[1], nights[_i].first[2]));
	ck_assert_int_eq(moments[1], moment(month, nights[_i].second[0], nights[_i].second[1], nights[_i].second[2]));
	zone_close(zone);
}
END_TEST

static const char *const unknown[] = {
	"Mars/Olympus", "../../../etc/passwd", "Europe/../../../etc/passwd", "/etc/passwd",
	"/usr/share/zoneinfo/../../../etc/passwd", "Europe", "zone.tab", "CET-1CEST,M3.5.0",
	"CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET",
	"C-1", "<+03", "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-200",
	"a-name-that-is-longer-than-any-time-zone-of-the-world-has-ever-had-one",
};

START_TEST(unknown_zones)
{
	const char *database = strcmp(unknown[_i], "CET") == 0 ? "/nowhere" : ZONE_DATABASE;

	ck_assert_msg(zone_open(database, unknown[_i]) == NULL, "%s", unknown[_i]);
}
END_TEST

/* Without a database what needs none is known, and the machine's zone is one in any case. */
START_TEST(no_database)
{
	static const char *const known[] = { "UTC", "GMT", "CET-1CEST,M3.5.0,M10.5.0/3", NULL, "" };

	for (size_t i = 0; i < COUNT(known); i++) {
		struct zone *zone = zone_open("/nowhere", known[i]);

		ck_assert_ptr_nonnull(zone);
		zone_close(zone);
	}
	ck_assert_ptr_null(zone_open("/nowhere", "Europe/Berlin"));
	ck_assert_int_eq(zone_offset(NULL, 0), 0);
}
END_TEST

static struct zone *open_bytes(const char *dir, const char *data, size_t size)
{
	char *path = xasprintf("%s/Broken", dir);
	FILE *file = fopen(path, "we");

	ck_assert_uint_eq(fwrite(data, 1, size, file), size);
	fclose(file);
	free(path);
	return zone_open(dir, "Broken");
}

/* A file that is cut off or wrong anywhere: unknown or a zone, and no byte beyond it is looked at
 * (the sanitizers see to that). */
START_TEST(broken_files)
{
	char dir[] = "/tmp/zone-XXXXXX", *path, data[8192];
	FILE *file = fopen(ZONE_DATABASE "/Europe/Berlin", "re");
	size_t size = fread(data, 1, sizeof(data), file);

	fclose(file);
	ck_assert_uint_gt(size, 500);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t n = 0; n < size; n += n < 200 ? 1 : 7) {
		struct zone *zone = open_bytes(dir, data, n);

		ck_assert_msg(n > size - 40 || zone == NULL, "%zu bytes", n);
		zone_close(zone);
	}
	for (size_t i = 0; i < size; i += i < 200 ? 1 : 7) {
		char byte = data[i];
		struct zone *zone;

		data[i] = (char)0xff;
		zone = open_bytes(dir, data, size);
		zone_offset(zone, 1800000000);
		zone_close(zone);
		data[i] = byte;
	}
	path = xasprintf("%s/Broken", dir);
	unlink(path);
	rmdir(dir);
	free(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("zone");
	TCase *tcase = tcase_create("zone");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, as_the_c_library, 0, COUNT(zones));
	tcase_add_test(tcase, every_zone);
	tcase_add_test(tcase, calendar);
	tcase_add_loop_test(tcase, clock_changes, 0, COUNT(nights));
	tcase_add_loop_test(tcase, unknown_zones, 0, COUNT(unknown));
	tcase_add_test(tcase, no_database);
	tcase_add_test(tcase, broken_files);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
