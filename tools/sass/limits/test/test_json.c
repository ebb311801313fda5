/* The JSON reader. Catches: a key found in a string or in an inner object, an element missed behind
 * a nested one, text that is no JSON and is read on, a read beyond text that is cut off. */
#include "limits/json.h"
#include "test/tap.h"

static const char object[] =
    "{ \"text\": \"a \\\"key\\\": 1, [\", \"inner\": {\"key\": 2, \"list\": "
    "[1]},\n \"key\" : -3.5e1, \"list\":[ 4, [5, 6], \"]\", {\"k\":7} ,8 ],"
    "\"none\":null}";

static void test_members(void) {
    char text[32];
    is_near(json_number(json_member(object, "key")), -35, 0, "a key, not its name in a string");
    is_near(json_number(json_member(json_member(object, "inner"), "key")), 2, 0, "an inner key");
    ok(json_string(json_member(object, "text"), text, sizeof text), "a string");
    is_text(text, "a \"key\": 1, [", "without its escapes");
    ok(json_string(json_member(object, "text"), text, 4), "a string for which there is no room");
    is_text(text, "a \"", "is cut");
    ok(json_string("\"a\\tb\\u0009c\\u003cd\\u00e9\"", text, sizeof text), "escapes");
    is_text(text, "a b c<d?", "of control characters, ASCII and others");
    ok(json_string("\"\\u001f\\u0020\\u007E\\u007f\\n\\r\\/\\\\\"", text, sizeof text),
       "more of them");
    is_text(text, "  ~?  /\\", "at the ends of ASCII");
    ok(!json_string("\"a\\u00", text, sizeof text), "an escape that is cut off");
    ok(!json_member(object, "ke"), "a part of a key is none");
    ok(!json_member(object, "absent"), "an absent key");
    ok(!json_string(json_member(object, "key"), text, sizeof text), "a number is no string");
    ok(!json_member("[1]", "key"), "an array has no keys");
    ok(!json_member(NULL, "key"), "nor has nothing");
    ok(!json_string("\"a\\\0b\"", text, sizeof text), "an escape at the end of the text");
    ok(!json_string(NULL, text, sizeof text), "nothing is no string");
    ok(json_string("\"ab\" ", text, 3), "a string that just has room");
    is_text(text, "ab", "is whole");
    ok(json_string("\"ab\"", text, 1), "where there is room for nothing");
    is_text(text, "", "there is nothing");
}

/* Text that is no JSON, and what is behind the end of one that is cut off: both look as if they
 * had the key. */
static void test_wrong(void) {
    ok(!json_member("{\"key\"=7}", "key"), "a key without a colon");
    ok(!json_member("{\"a\":1;\"key\":7}", "key"), "members without a comma");
    ok(!json_member("{\"a\":1 \"key\":7}", "key"), "or with nothing between them");
    ok(!json_member("{x\"key\":7}", "key"), "a key behind something else");
    ok(!json_member("{\"a\\\0\":1,\"key\":7}", "key"), "the end behind a backslash");
    ok(!json_member("{\"a\":\0,\"key\":7}", "key"), "behind a colon");
    ok(!json_member("{\"a\":\"\0\",\"key\":7}", "key"), "in a string");
    ok(!json_member("{\"a\":[\0],\"key\":7}", "key"), "in an array");
    ok(!json_member("{\"a\":1,\0\"key\":7}", "key"), "behind a comma");
    ok(!json_member("{\"key\":\0 7}", "key"), "in the place of the value");
    ok(!json_member("{\"key", "key") && !json_member("{\"key\"", "key"), "in the key");
    ok(!json_next("1;2") && !json_next("[1]]") && !json_next("1,"), "the last of an array");
    is_near(json_number(json_next("1 ,\t2")), 2, 0, "blanks around a comma");
    is_near(json_number(json_next("[1,[2]],3")), 3, 0, "an array behind an array");
    is_near(json_number(json_next("\"a]\",4")), 4, 0, "or behind a string");
    is_near(json_number(json_member("{\"kez\":1,\"ley\":2,\"keyy\":3,\"key\":4}", "key")), 4, 0,
            "keys that are alike");
}

static void test_elements(void) {
    const char *at = json_first(json_member(object, "list"));
    is_near(json_number(at), 4, 0, "the first element");
    at = json_next(at);
    is_near(json_number(json_first(at)), 5, 0, "an array in it");
    at = json_next(json_next(at));
    is_near(json_number(json_member(at, "k")), 7, 0, "an object behind a string with a bracket");
    at = json_next(at);
    is_near(json_number(at), 8, 0, "the last");
    ok(!json_next(at), "has none behind it");
    ok(!json_first("[ ]"), "an empty array has no first");
    ok(!json_first(NULL), "nor has nothing");
    ok(!json_first("{\"k\":[7]}") && !json_first("\"[7]\"") && !json_first(" [7]"),
       "nor what is no array");
    is_near(json_number("\"7\""), 0, 0, "a text is no number");
    is_near(json_number(NULL), 0, 0, "nor is nothing");
}

/* Every text that is cut off is read to its end and not beyond: for the address sanitizer. */
static void test_cut(void) {
    char cut[sizeof object], text[32];
    int found = 0;
    for (size_t length = 0; length < sizeof object; length++) {
        snprintf(cut, length + 1, "%s", object);
        const char *list = json_member(cut, "list");
        for (const char *at = json_first(list); at; at = json_next(at))
            found += json_string(at, text, sizeof text);
    }
    ok(found > 0, "cut off anywhere");
}

int main(void) {
    test_members();
    test_wrong();
    test_elements();
    test_cut();
    return done_testing();
}
