#include "analysis/listing.h"

#include "analysis/source.h"
#include "list.h"

#include <ctype.h>
#include <limits.h>

/* Where the parser stands: the lines of the source hold until the next ones. */
typedef struct Parser {
    Listing listing;
    int frame, frames; /* of the instructions that follow */
    int ptx_line;
    bool open_chain; /* the last source line was inlined in one that is yet to come */
} Parser;

static const char ptx_file[] = ".nv_debug_ptx_txt";

static bool starts(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static char *skip_spaces(char *text) {
    while (isspace((unsigned char)*text)) text++;
    return text;
}

static char *end_of_word(char *text) {
    while (*text && !isspace((unsigned char)*text)) text++;
    return text;
}

static void trim(char *text) {
    char *end = text;
    for (; *text; text++)
        if (!isspace((unsigned char)*text)) end = text + 1;
    *end = '\0';
}

static Function *current(Parser *parser) {
    Listing *listing = &parser->listing;
    return listing->functions ? &listing->function[listing->functions - 1] : NULL;
}

/* .section .text.NAME,"ax",@progbits */
static void parse_section(Parser *parser, char *name) {
    name[strcspn(name, ",")] = '\0';
    if (!starts(name, ".text.")) return;
    Function *function = LIST_ADD(parser->listing.function, parser->listing.functions);
    function->name = name + strlen(".text.");
    function->body = -1;
    parser->frame = parser->frames = parser->ptx_line = 0;
    parser->open_chain = false;
}

/* .other NAME, @"STO_CUDA_ENTRY STV_DEFAULT" */
static void parse_other(Parser *parser, const char *rest) {
    Function *function = current(parser);
    if (function && strstr(rest, "STO_CUDA_ENTRY")) function->kernel = true;
}

/* .type NAME,@function: one that is not the section's own is called by it. */
static void parse_type(Parser *parser, char *name) {
    Function *function = current(parser);
    if (!function || function->body >= 0 || !strstr(name, ",@function")) return;
    name[strcspn(name, ",")] = '\0';
    if (strcmp(name, function->name) != 0) function->body = function->instructions;
}

static void parse_directive(Parser *parser, char *directive) {
    char *rest = end_of_word(directive);
    if (*rest) *rest++ = '\0';
    rest = skip_spaces(rest);
    if (strcmp(directive, ".target") == 0)
        parser->listing.target = rest;
    else if (strcmp(directive, ".section") == 0)
        parse_section(parser, rest);
    else if (strcmp(directive, ".other") == 0)
        parse_other(parser, rest);
    else if (strcmp(directive, ".type") == 0)
        parse_type(parser, rest);
}

/* NAME: */
static void parse_label(Parser *parser, char *line) {
    Function *function = current(parser);
    char *colon = strrchr(line, ':');
    if (!function || !colon || colon[1]) return;
    *colon = '\0';
    Label *label = LIST_ADD(function->label, function->labels);
    *label = (Label){line, function->instructions};
}

/* A number that fits an int, or 0. */
static int parse_line_number(const char *text) {
    const long number = strtol(text, NULL, 10);
    return number > 0 && number < INT_MAX ? (int)number : 0;
}

/* File "kernel.cu", line 89 inlined at "kernel.cu", line 97
 * A chain of these lines, each but the last inlined, says where the instructions come from. */
static void parse_source(Parser *parser, char *text) {
    Function *function = current(parser);
    char *file = strchr(text, '"'), *end = file ? strchr(file + 1, '"') : NULL;
    if (!function || !end) return;
    file++;
    *end++ = '\0';
    path_decode(file);
    const char *line = strstr(end, "line ");
    const int number = line ? parse_line_number(line + strlen("line ")) : 0;
    if (strcmp(file, ptx_file) == 0) {
        parser->ptx_line = number;
        return;
    }
    if (!parser->open_chain) {
        parser->frame = function->frames;
        parser->frames = 0;
    }
    Frame *frame = LIST_ADD(function->frame, function->frames);
    *frame = (Frame){file, number};
    parser->frames++;
    parser->open_chain = strstr(end, "inlined at") != NULL;
}

/* The text behind the address comment: [@GUARD] OPCODE [OPERANDS] ; */
static void parse_instruction(Parser *parser, unsigned long address, char *text) {
    Function *function = current(parser);
    if (!function) return;
    text[strcspn(text, ";")] = '\0';
    text = skip_spaces(text);
    const char *guard = "";
    if (*text == '@') {
        guard = text;
        text = end_of_word(text);
        if (*text) *text++ = '\0';
        text = skip_spaces(text);
    }
    if (!isalpha((unsigned char)*text)) return; /* the second half of an encoding */
    char *operands = end_of_word(text);
    if (*operands) *operands++ = '\0';
    operands = skip_spaces(operands);
    trim(operands);
    Instruction *instruction = LIST_ADD(function->instruction, function->instructions);
    *instruction = (Instruction){.address = address,
                                 .guard = guard,
                                 .opcode = text,
                                 .operands = operands,
                                 .frame = parser->frame,
                                 .frames = parser->frames,
                                 .ptx_line = parser->ptx_line};
    parser->open_chain = false;
}

/* The second half of an encoding, alone on its line: that of the last instruction. */
static void parse_upper(Parser *parser, const char *text) {
    Function *function = current(parser);
    if (!function || !function->instructions) return;
    Instruction *last = &function->instruction[function->instructions - 1];
    if (last->encoded) return;
    last->encoded = true;
    last->upper = strtoull(text, NULL, 16);
}

static void parse_line(Parser *parser, char *line) {
    char *text = skip_spaces(line), *end;
    trim(text);
    if (starts(text, "//## File"))
        parse_source(parser, text);
    else if (starts(text, "/* 0x"))
        parse_upper(parser, text + strlen("/* "));
    else if (starts(text, "/*")) {
        const unsigned long address = strtoul(text + 2, &end, 16);
        if (end > text + 2 && starts(end, "*/")) parse_instruction(parser, address, end + 2);
    } else if (text == line)
        parse_label(parser, line);
    else
        parse_directive(parser, text);
}

Listing listing_parse(char *text) {
    Parser parser = {.listing.target = ""};
    while (text) {
        char *line = text, *end = strchr(text, '\n');
        if (end) *end++ = '\0';
        text = end;
        parse_line(&parser, line);
    }
    for (int f = 0; f < parser.listing.functions; f++) {
        Function *function = &parser.listing.function[f];
        if (function->body < 0) function->body = function->instructions;
    }
    return parser.listing;
}

void listing_free(Listing *listing) {
    for (int f = 0; f < listing->functions; f++) {
        free(listing->function[f].instruction);
        free(listing->function[f].label);
        free(listing->function[f].frame);
    }
    free(listing->function);
    *listing = (Listing){0};
}

int listing_find_label(const Function *function, const char *name, int length) {
    for (int i = 0; i < function->labels; i++)
        if (strncmp(function->label[i].name, name, (size_t)length) == 0 &&
            function->label[i].name[length] == '\0')
            return function->label[i].at;
    return -1;
}
