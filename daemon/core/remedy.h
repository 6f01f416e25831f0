/* SPDX-License-Identifier: MIT */
/* What a clean checkout may lack for a check to run there, and the settings that bring it. Pure. */
#ifndef CORE_REMEDY_H
#define CORE_REMEDY_H

#include <stdbool.h>

/* Whether a tracked file of that name says how the project in its directory is set up. */
bool remedy_is_manifest(const char *path);

/* The names below the directory subdir, relative to it, at any depth; NULL or "": all of them. A
 * new list of new strings. */
char **remedy_below(char *const *names, const char *subdir);

/* ignored: what git ignores in the user's directory, directories with a slash at the end;
 * manifests: the files found of remedy_is_manifest(). sets_up: there are set-up commands already;
 * copies: what is copied already. All lists may be NULL. malloc'd: "ignored there: deps/, .env. Add
 * to .rld.toml: setup = ["npm ci"], copy = [".env"], or workspace = "same"". NULL: nothing is
 * ignored. */
char *remedy_text(char *const *ignored, char *const *manifests, bool sets_up, char *const *copies);

#endif
