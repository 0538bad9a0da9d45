/* Parser: src/views/http/http_rules.c */
/*
 * Takes the lines of any input as the method, target, Host, Authorization, Sec-Fetch-Site and
 * Origin of a request. If http_check() permits the stream of the page, a second, simple check in
 * this file must also permit it.
 */
#include "views/http/http_rules.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOKEN "0123456789abcdef0123456789abcdef"
#define WORDS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Splits the bytes into lines that end with '\0'. The caller must free the lines. */
static size_t divide(const uint8_t *data, size_t size, char *ret[WORDS], size_t lengths[WORDS])
{
    size_t count = 0;

    while (count < WORDS) {
        const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
        const size_t length = end != NULL ? (size_t)(end - data) : size;

        ret[count] = malloc(length + 1);
        if (ret[count] == NULL)
            abort();
        if (length > 0)
            memcpy(ret[count], data, length);
        ret[count][length] = '\0';
        lengths[count++] = length;
        if (end == NULL)
            break;
        data = end + 1;
        size -= length + 1;
    }
    return count;
}

/* Copies the text without its '\0', so that a sanitizer detects reads past its end. */
static struct http_header header_of(char **word, size_t length)
{
    char *exact = malloc(length > 0 ? length : 1);

    if (exact == NULL)
        abort();
    memcpy(exact, *word, length);
    free(*word);
    *word = exact;
    return (struct http_header){ 1, exact, length };
}

static int is(const struct http_header *header, const char *text)
{
    return header->length == strlen(text) && strncasecmp(header->value, text, header->length) == 0;
}

static void check(const struct http_request *request)
{
    const struct http_place place = { .port = 8080, .token = TOKEN };
    enum http_resource resource = HTTP_PAGE;
    const unsigned status = http_check(&place, request, &resource);

    if (status != 200 && http_reason(status)[0] == '\0')
        abort();
    if (status != 200 || resource != HTTP_STREAM)
        return;
    if (!is(&request->host, "127.0.0.1:8080") && !is(&request->host, "localhost:8080") &&
        !is(&request->host, "[::1]:8080"))
        abort();
    if (!is(&request->authorization, "Bearer " TOKEN) || strcmp(request->target, "/stream") != 0)
        abort();
    if (request->fetch_site.count > 0 && !is(&request->fetch_site, "none") &&
        !is(&request->fetch_site, "same-origin"))
        abort();
}

/* Uses the text as the name of a header and as its value. */
static void note_names(const char *text)
{
    struct http_request request = { 0 };

    for (int i = 0; i < 2; i++)
        http_note_header(&request, text, strlen(text), text, strlen(text));
    if (request.host.count > 0 && (request.host.count != 2 || strcasecmp(text, "host") != 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[WORDS];
    size_t lengths[WORDS];
    const size_t count = divide(data, size, words, lengths);
    struct http_request request = { .method = words[0], .target = count > 1 ? words[1] : "" };
    static const char *const headers[] = { "host", "Authorization", "sec-fetch-site", "Origin" };

    for (size_t i = 2; i < count; i++) {
        const struct http_header header = header_of(&words[i], lengths[i]);

        http_note_header(&request, headers[i - 2], strlen(headers[i - 2]), header.value,
                         header.length);
    }
    note_names(words[0]);
    check(&request);
    for (size_t i = 0; i < count; i++)
        free(words[i]);
    return 0;
}
