/* SPDX-License-Identifier: MIT */
/* Roles: every rank against every method, who has which rank, and what files a user could reach. */
#include "core/access.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "core.h"
#include "proto/memory.h"
#include "scratch.h"

enum { OWN = 900, ADA = 1001, BEN = 1002, CYD = 1003, DAN = 1004, STAFF = 50, DEVS = 51, OPS = 52 };

static uid_t readers[] = { ADA }, submitters[] = { BEN, ADA }, admins[] = { CYD };
static gid_t staff[] = { STAFF }, devs[] = { 7, DEVS }, ops[] = { OPS };

START_TEST(test_rank)
{
	const struct access_table table = { .own = OWN, .lists = {
		[RANK_READ] = { readers, staff, 1, 1 },
		[RANK_SUBMIT] = { submitters, devs, 2, 2 },
		[RANK_ADMIN] = { admins, ops, 1, 1 },
	} }, closed = { .own = OWN };
	static const struct { uid_t uid; gid_t groups[3]; size_t n; enum rank rank, alone; } rows[] = {
		{ 0, { 0 }, 1, RANK_ADMIN, RANK_ADMIN },
		{ OWN, { OWN }, 1, RANK_ADMIN, RANK_ADMIN },
		{ ADA, { ADA }, 1, RANK_SUBMIT, RANK_NONE },		/* the highest counts */
		{ BEN, { BEN }, 1, RANK_SUBMIT, RANK_NONE },
		{ CYD, { CYD }, 1, RANK_ADMIN, RANK_NONE },
		{ DAN, { DAN }, 1, RANK_NONE, RANK_NONE },
		{ DAN, { 0 }, 0, RANK_NONE, RANK_NONE },
		{ DAN, { STAFF }, 1, RANK_READ, RANK_NONE },
		{ DAN, { DAN, DEVS }, 2, RANK_SUBMIT, RANK_NONE },
		{ DAN, { DAN, STAFF, DEVS }, 3, RANK_SUBMIT, RANK_NONE },
		{ DAN, { DAN, STAFF, OPS }, 3, RANK_ADMIN, RANK_NONE },
		{ BEN, { BEN, OPS }, 2, RANK_ADMIN, RANK_NONE },
		{ DAN, { OWN, 0 }, 2, RANK_NONE, RANK_NONE },		/* groups are no users */
		{ STAFF, { DAN }, 1, RANK_NONE, RANK_NONE },		/* a user is no group */
		{ DAN, { CYD }, 1, RANK_NONE, RANK_NONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct peer peer = { .uid = rows[i].uid, .groups = (gid_t *)rows[i].groups,
		    .ngroups = rows[i].n };

		ck_assert_msg(access_rank(&table, &peer) == rows[i].rank, "row %zu", i);
		ck_assert_msg(access_rank(&closed, &peer) == rows[i].alone, "row %zu", i);
	}
}
END_TEST

START_TEST(test_permits)
{
	/* 'y': yes, '-': no, 'o': only of their own runs */
	static const struct { enum rank rank; const char *may; } rows[] = {
		/*             any, read, submit, owner, admin */
		{ RANK_NONE,   "-----" },
		{ RANK_READ,   "yy---" },
		{ RANK_SUBMIT, "yyyo-" },
		{ RANK_ADMIN,  "yyyyy" },
	};

	ck_assert_uint_eq(sizeof(rows) / sizeof(rows[0]), RANKS);
	for (size_t i = 0; i < RANKS; i++) {
		ck_assert_uint_eq(strlen(rows[i].may), ACCESSES);
		for (enum access needed = 0; needed < ACCESSES; needed++) {
			char may = rows[i].may[needed];

			ck_assert_int_eq(access_permits(rows[i].rank, needed, true), may != '-');
			ck_assert_int_eq(access_permits(rows[i].rank, needed, false), may == 'y');
			ck_assert_int_eq(access_asks_owner(rows[i].rank, needed), may == 'o');
		}
	}
}
END_TEST

START_TEST(test_names)
{
	ck_assert_str_eq(state_name(&rank_names, RANK_NONE), "none");
	ck_assert_str_eq(state_name(&rank_names, RANK_READ), "read");
	ck_assert_str_eq(state_name(&rank_names, RANK_SUBMIT), "submit");
	ck_assert_str_eq(state_name(&rank_names, RANK_ADMIN), "admin");
}
END_TEST

START_TEST(test_release)
{
	struct access_list list = { xcalloc(1, sizeof(uid_t)), xcalloc(1, sizeof(gid_t)), 1, 1 };

	access_list_release(&list);
	ck_assert(list.uids == NULL && list.groups == NULL && list.nuids == 0 && list.ngroups == 0);
}
END_TEST

/* ---- who is at the other end ---- */

START_TEST(test_peer)
{
	gid_t groups[NGROUPS_MAX];
	int fds[2], n = getgroups(NGROUPS_MAX, groups);
	struct peer peer, copy;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(peer_of_socket(fds[0], &peer), 0);
	ck_assert_uint_eq(peer.uid, geteuid());
	ck_assert_int_eq(peer.pid, getpid());
	ck_assert_uint_eq(peer.ngroups, (size_t)n + 1);
	ck_assert_uint_eq(peer.groups[0], getegid());
	for (int i = 0; i < n; i++)
		ck_assert(peer_in_group(&peer, groups[i]));
	ck_assert(!peer_in_group(&peer, 987654));
	peer_copy(&copy, &peer);
	peer_release(&peer);
	ck_assert(peer_in_group(&copy, getegid()));
	peer_release(&copy);
	close(fds[0]);
	close(fds[1]);
	ck_assert_int_eq(peer_of_socket(0, &peer), -ENOTSOCK);
	peer_release(&peer);
}
END_TEST

/* More groups than there is room for at first. */
START_TEST(test_peer_of_many_groups)
{
	gid_t groups[500];
	struct peer peer;
	int fds[2];

	for (int i = 0; i < 500; i++)
		groups[i] = (gid_t)(20000 + i);
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(setgroups(500, groups), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(peer_of_socket(fds[0], &peer), 0);
	ck_assert_uint_eq(peer.ngroups, 501);
	ck_assert(peer_in_group(&peer, 20000) && peer_in_group(&peer, 20499) && !peer_in_group(&peer, 20500));
	peer_release(&peer);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* ---- what files it could reach ---- */

static char place[PATH_MAX - 64];

static void make(const char *name, mode_t mode, bool folder, uid_t owner)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", place, name);
	if (folder) {
		ck_assert_int_eq(mkdir(path, 0700), 0);
	} else {
		fd = open(path, O_CREAT | O_WRONLY | O_EXCL, 0600);
		ck_assert_int_ge(fd, 0);
		close(fd);
	}
	if (geteuid() == 0)
		ck_assert_int_eq(chown(path, owner, getegid()), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

static int reaches(uid_t uid, gid_t group, const char *name, int mode)
{
	gid_t groups[] = { 54321, group };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return peer_access(&(struct peer){ .uid = uid, .groups = groups, .ngroups = 2 }, path, mode);
}

START_TEST(test_files)
{
	uid_t owner = geteuid() == 0 ? 1234 : geteuid(), other = 4321;
	gid_t ours = getegid(), none = 54322;
	char link[PATH_MAX];

	scratch_make(place, sizeof(place), "access");
	ck_assert_int_eq(chmod(place, 0755), 0);
	make("f", 0640, false, owner);
	make("odd", 0064, false, owner);
	/* one class of the mode counts: the owner's, else the group's, else that of others */
	ck_assert_int_eq(reaches(owner, none, "f", R_OK | W_OK), 0);
	ck_assert_int_eq(reaches(owner, none, "f", X_OK), -EACCES);
	ck_assert_int_eq(reaches(other, ours, "f", R_OK), 0);
	ck_assert_int_eq(reaches(other, ours, "f", W_OK), -EACCES);
	ck_assert_int_eq(reaches(other, none, "f", R_OK), -EACCES);
	ck_assert_int_eq(reaches(owner, ours, "odd", R_OK), -EACCES);
	ck_assert_int_eq(reaches(other, ours, "odd", R_OK | W_OK), 0);
	ck_assert_int_eq(reaches(other, none, "odd", R_OK), 0);
	ck_assert_int_eq(reaches(other, none, "odd", W_OK), -EACCES);
	ck_assert_int_eq(reaches(0, none, "f", R_OK | W_OK | X_OK), 0);
	/* what is in a directory that it may not search */
	make("closed", 0700, true, owner);
	make("closed/f", 0666, false, owner);
	make("closed/d", 0777, true, owner);
	ck_assert_int_eq(reaches(owner, none, "closed/f", R_OK), 0);
	ck_assert_int_eq(reaches(other, none, "closed/f", R_OK), -EACCES);
	ck_assert_int_eq(reaches(other, none, "closed/d/f", W_OK), -EACCES);
	/* what does not exist: it could be made where the directory can be written */
	make("open", 0777, true, owner);
	make("listed", 0755, true, owner);
	ck_assert_int_eq(reaches(other, none, "open/new", W_OK), 0);
	ck_assert_int_eq(reaches(other, none, "open/a/b/new", W_OK), 0);
	ck_assert_int_eq(reaches(other, none, "listed/new", W_OK), -EACCES);
	ck_assert_int_eq(reaches(other, none, "listed/new", R_OK), 0);
	ck_assert_int_eq(reaches(other, none, "closed/new", R_OK), -EACCES);
	/* where a link leads counts */
	snprintf(link, sizeof(link), "%s/open/link", place);
	ck_assert_int_eq(symlink("../closed/f", link), 0);
	ck_assert_int_eq(reaches(other, none, "open/link", R_OK), -EACCES);
	ck_assert_int_eq(reaches(owner, none, "open/link", R_OK), 0);
	/* others say why that is impossible */
	ck_assert_int_eq(reaches(other, none, "f/below", R_OK), 0);
	ck_assert_int_eq(peer_access(&(struct peer){ .uid = other }, "/", R_OK | X_OK), 0);
	ck_assert_int_eq(peer_access(&(struct peer){ .uid = other }, "/", W_OK), -EACCES);
	ck_assert_int_eq(peer_access(&(struct peer){ .uid = other }, "nowhere-to-be-found", W_OK), 0);
	file_remove_tree(place);
}
END_TEST

START_TEST(test_user_names)
{
	char *root = user_name_of(0), *none = user_name_of(3999999999u);

	ck_assert_str_eq(root, "root");
	ck_assert_str_eq(none, "uid 3999999999");
	free(root);
	free(none);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { test_rank, test_permits, test_names, test_release, test_peer,
	    test_peer_of_many_groups, test_files, test_user_names };

	return RUN_SUITE("access", tests);
}
