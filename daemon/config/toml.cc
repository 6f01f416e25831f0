/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <toml++/toml.h>

#include "config/toml.h"

extern "C" {
#include "proto/memory.h"
}

namespace {

/* Deeper than any setting; limits the recursion. */
constexpr int depth_max = 8;

struct refusal {
	std::string text;
	toml_place at;
};

toml_place place(const toml::source_region &region)
{
	return { region.begin.line, region.begin.column };
}

bool bare(std::string_view key)
{
	return !key.empty() && key.find_first_not_of(
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == key.npos;
}

/* A key as written in TOML: a quoted one never looks like a path of several segments. */
std::string segment(std::string_view key)
{
	std::string out = "\"";

	if (bare(key))
		return std::string(key);
	for (char c : key) {
		char escaped[8];

		if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') {
			std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
			out += escaped;
		} else {
			out += c;
		}
	}
	return out + "\"";
}

json_t *to_json(const toml::node &node, int depth);

/* Adds each member to value, which is freed if one is invalid. */
template <typename Members, typename Add> void add_members(json_t *value, const Members &members, Add add)
{
	try {
		for (auto &&member : members)
			add(member);
	} catch (...) {
		json_decref(value);
		throw;
	}
}

/* New reference. */
json_t *to_json(const toml::node &node, int depth)
{
	json_t *value = nullptr;

	if (depth > depth_max)
		throw refusal{ "arrays and tables are nested too deeply", place(node.source()) };
	if (const auto *text = node.as_string()) {
		value = json_stringn(text->get().data(), text->get().size());
	} else if (const auto *integer = node.as_integer()) {
		value = json_integer(integer->get());
	} else if (const auto *real = node.as_floating_point()) {
		value = json_real(real->get());
	} else if (const auto *boolean = node.as_boolean()) {
		value = json_boolean(boolean->get());
	} else if (const auto *table = node.as_table()) {
		value = json_object();
		add_members(value, *table, [value, depth](auto &&member) {
			json_object_set_new(value, segment(member.first.str()).c_str(),
			    to_json(member.second, depth + 1));
		});
	} else if (const auto *array = node.as_array()) {
		value = json_array();
		add_members(value, *array, [value, depth](const toml::node &item) {
		    json_array_append_new(value, to_json(item, depth + 1)); });
	}
	if (value == nullptr)
		throw refusal{
		    "dates, times, inf and nan are not allowed as settings; put a string in quotes",
		    place(node.source()) };
	return value;
}

void walk(struct toml_list *out, const toml::table &table, const std::string &prefix, int depth)
{
	for (const auto &[key, node] : table) {
		std::string path = prefix + segment(key.str());
		json_t *value;

		if (depth > depth_max)
			throw refusal{ "tables are nested too deeply", place(key.source()) };
		value = node.is_table() ? nullptr : to_json(node, depth);
		out->entries = static_cast<toml_entry *>(xreallocarray(out->entries, out->count + 1,
		    sizeof(*out->entries)));
		out->entries[out->count++] = { xstrdup(path.c_str()), value, place(key.source()),
		    place(node.source()) };
		if (value == nullptr)
			walk(out, *node.as_table(), path + ".", depth + 1);
	}
}

/* A number out of range may be an unquoted secret: only its place is reported. */
std::string described(std::string_view text)
{
	return text.find("is not representable") == text.npos ? std::string(text) :
	    "a number is too large; put a string in quotes";
}

int refuse(struct toml_list *out, const char *text, toml_place at)
{
	std::snprintf(out->error, sizeof(out->error), "%s", text);
	out->error_at = at;
	return -1;
}

} // namespace

/* No exception may leave: C callers cannot unwind it. */
extern "C" int toml_parse(const char *text, size_t size, struct toml_list *out)
{
	*out = {};
	if (size > TOML_SIZE_MAX)
		return refuse(out, "the text is longer than 32 KiB", { 1, 1 });
	try {
		walk(out, toml::parse(std::string_view(text, size)), "", 1);
		std::stable_sort(out->entries, out->entries + out->count, [](const toml_entry &a, const toml_entry &b) {
			return a.key.line != b.key.line ? a.key.line < b.key.line : a.key.column < b.key.column;
		});
		return 0;
	} catch (const toml::parse_error &error) {
		return refuse(out, described(error.description()).c_str(), place(error.source()));
	} catch (const refusal &error) {
		return refuse(out, error.text.c_str(), error.at);
	} catch (const std::exception &error) {
		return refuse(out, error.what(), { 1, 1 });
	}
}

extern "C" void toml_release(struct toml_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		std::free(list->entries[i].path);
		json_decref(list->entries[i].value);
	}
	std::free(list->entries);
	*list = {};
}
