/* SPDX-License-Identifier: Apache-2.0
 *
 * A program whose heap is worth looking at: threads parse made-up requests
 * (JSON) into documents, keep an inverted index of their words, sessions,
 * and a cache of rendered pages. One mistake is built in: the page cache
 * never drops what it replaced.
 *
 * usage: heapdemo DUMP
 *
 * Run it under jemalloc with profiling on; before it ends, while everything
 * is still in use, it writes a heap dump to DUMP:
 *
 *   g++ -O2 -g -pthread -o heapdemo heapdemo.cc
 *   MALLOC_CONF=prof:true,lg_prof_sample:14 \
 *     LD_PRELOAD=libjemalloc.so.2 ./heapdemo demo.heap
 */
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <dlfcn.h>

namespace demo {

/* Numbers that are the same on every run (Marsaglia's xorshift64). */
class Random {
public:
	explicit Random(std::uint64_t seed) : state(seed) {}

	std::uint32_t below(std::uint32_t limit)
	{
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		return static_cast<std::uint32_t>(state >> 32) % limit;
	}

private:
	std::uint64_t state;
};

/* ---------------------------------------------------------------- parser */

/* A JSON value. */
struct Value {
	std::string text; /* of a string or number */
	std::vector<std::unique_ptr<Value>> items;
	std::map<std::string, std::unique_ptr<Value>> members;
};

/* Recursive descent over the JSON that make_object() writes. */
class Parser {
public:
	explicit Parser(const std::string &text) : p(text.c_str()) {}

	std::unique_ptr<Value> parse_value()
	{
		switch (*p) {
		case '{':
			return parse_object();
		case '[':
			return parse_array();
		case '"':
			return parse_string();
		default:
			return parse_number();
		}
	}

private:
	std::unique_ptr<Value> parse_object()
	{
		auto value = std::make_unique<Value>();

		while (*p && *p++ != '}' && *p == '"') {
			std::string name = take_string();

			p++; /* ':' */
			value->members[std::move(name)] = parse_value();
		}
		if (*p == '}')
			p++;
		return value;
	}

	std::unique_ptr<Value> parse_array()
	{
		auto value = std::make_unique<Value>();

		while (*p && *p++ != ']' && *p != ']')
			value->items.push_back(parse_value());
		if (*p == ']')
			p++;
		return value;
	}

	std::unique_ptr<Value> parse_string()
	{
		auto value = std::make_unique<Value>();

		value->text = take_string();
		return value;
	}

	std::unique_ptr<Value> parse_number()
	{
		auto value = std::make_unique<Value>();

		while (*p >= '0' && *p <= '9')
			value->text += *p++;
		return value;
	}

	inline std::string take_string()
	{
		const char *start = ++p;

		while (*p && *p != '"')
			p++;
		return std::string(start, *p ? p++ : p);
	}

	const char *p;
};

/* --------------------------------------------------------------- requests */

static std::string make_word(Random &random)
{
	return "word-" + std::to_string(random.below(20000)) + "-of-the-text";
}

static std::string make_object(Random &random, unsigned depth);

static std::string make_array(Random &random, unsigned depth)
{
	std::string text = "[";
	unsigned nr = 1 + random.below(4);

	while (nr--) {
		text += depth && random.below(2)
				? make_object(random, depth - 1)
				: "\"" + make_word(random) + "\"";
		text += nr ? "," : "]";
	}
	return text;
}

static std::string make_object(Random &random, unsigned depth)
{
	std::string text = "{\"id\":" + std::to_string(random.below(100000));

	text += ",\"title\":\"" + make_word(random) + "\"";
	text += ",\"tags\":" + make_array(random, depth ? depth - 1 : 0);
	if (depth)
		text += ",\"parent\":" + make_object(random, depth - 1);
	return text + "}";
}

/* ----------------------------------------------------------------- index */

class Index {
public:
	void add(const Value &value, std::uint32_t id)
	{
		std::lock_guard<std::mutex> guard(lock);

		add_words(value, id);
	}

private:
	void add_words(const Value &value, std::uint32_t id)
	{
		if (!value.text.empty())
			postings[value.text].push_back(id);
		for (const auto &item : value.items)
			add_words(*item, id);
		for (const auto &member : value.members)
			add_words(*member.second, id);
	}

	std::mutex lock;
	std::unordered_map<std::string, std::vector<std::uint32_t>> postings;
};

/* ----------------------------------------------------------------- cache */

class PageCache {
public:
	void store(const std::string &path, std::string page)
	{
		std::lock_guard<std::mutex> guard(lock);
		auto &slot = pages[path];

		/* The mistake: replaced pages are kept. */
		if (slot)
			replaced.push_back(std::move(slot));
		slot = std::make_unique<std::string>(std::move(page));
	}

private:
	std::mutex lock;
	std::unordered_map<std::string, std::unique_ptr<std::string>> pages;
	std::vector<std::unique_ptr<std::string>> replaced;
};

static void render_value(const Value &value, std::string &page)
{
	page += "<li class=\"entry\"><span>" + value.text + "</span>";
	for (const auto &item : value.items)
		render_value(*item, page);
	for (const auto &member : value.members)
		render_value(*member.second, page);
	page += "</li>";
}

/* --------------------------------------------------------------- sessions */

struct Session {
	std::string user;
	std::deque<std::string> history; /* the last pages */
	std::vector<char> buffer;
};

class Sessions {
public:
	void visit(std::uint32_t user, const std::string &path)
	{
		std::lock_guard<std::mutex> guard(lock);
		Session &session = find_or_make(user);

		session.history.push_back(path);
		if (session.history.size() > 20)
			session.history.pop_front();
	}

private:
	inline Session &find_or_make(std::uint32_t user)
	{
		auto &slot = sessions[user];

		if (!slot) {
			slot = std::make_unique<Session>();
			slot->user = "user-" + std::to_string(user) +
				     "@example.org";
			slot->buffer.resize(4096);
		}
		return *slot;
	}

	std::mutex lock;
	std::unordered_map<std::uint32_t, std::unique_ptr<Session>> sessions;
};

/* ----------------------------------------------------------------- server */

class Server {
public:
	void handle_requests(std::uint64_t seed, unsigned nr)
	{
		std::vector<std::unique_ptr<Value>> batch;
		Random random(seed);

		for (unsigned i = 0; i < nr; i++) {
			Parser parser(make_object(random, 3));

			batch.push_back(parser.parse_value());
			handle_document(*batch.back(), i, random);
		}
		keep(std::move(batch));
	}

private:
	void handle_document(const Value &document, std::uint32_t id,
			     Random &random)
	{
		std::string path = "/page/" + std::to_string(
			random.below(800)) + "/of-the-collection";

		index.add(document, id);
		sessions.visit(random.below(3000), path);
		if (random.below(2) == 0)
			cache_page(path, document);
	}

	void cache_page(const std::string &path, const Value &document)
	{
		std::string page = "<html><h1>" + path + "</h1><ul>";

		render_value(document, page);
		cache.store(path, page + "</ul></html>");
	}

	void keep(std::vector<std::unique_ptr<Value>> batch)
	{
		std::lock_guard<std::mutex> guard(lock);

		batches.push_back(std::move(batch));
	}

	std::mutex lock;
	std::vector<std::vector<std::unique_ptr<Value>>> batches;
	Index index;
	PageCache cache;
	Sessions sessions;
};

} // namespace demo

/* Ask jemalloc, if it is there, for a heap dump. */
static int dump_heap(const char *path)
{
	using mallctl_fn = int (*)(const char *, void *, size_t *, void *,
				   size_t);
	auto mallctl = reinterpret_cast<mallctl_fn>(
		dlsym(RTLD_DEFAULT, "mallctl"));
	int failed;

	if (!mallctl) {
		std::fprintf(stderr, "heapdemo: not running under jemalloc\n");
		return 1;
	}
	failed = mallctl("prof.dump", nullptr, nullptr, &path, sizeof(path));
	if (failed) {
		std::fprintf(stderr, "heapdemo: no heap dump (error %d): is "
			     "prof:true in MALLOC_CONF?\n", failed);
		return 1;
	}
	return 0;
}

static void serve(demo::Server &server, unsigned thread)
{
	const unsigned nr_requests = 4000;

	server.handle_requests(0x9e3779b97f4a7c15 + thread, nr_requests);
}

int main(int argc, char **argv)
{
	const unsigned nr_threads = 3;
	std::vector<std::thread> threads;
	demo::Server server;

	if (argc != 2) {
		std::fprintf(stderr, "usage: heapdemo DUMP\n");
		return 2;
	}
	for (unsigned i = 0; i < nr_threads; i++)
		threads.emplace_back(serve, std::ref(server), i);
	for (std::thread &thread : threads)
		thread.join();
	return dump_heap(argv[1]);
}
