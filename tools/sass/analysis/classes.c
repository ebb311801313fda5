#include "analysis/classes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct ClassEntry {
    const char *name;
    bool modifiers;      /* the table of counts tells opcodes apart by their modifiers */
    const char *opcodes; /* a space before and after each */
} ClassEntry;

/* Opcodes of compute capability 7.5 to 12.1. Source: CUDA Binary Utilities 13, section 4,
 * instruction set reference; and what ptxas 13.0 makes of the stages. */
static const ClassEntry classes[CLASSES] = {
    [CLASS_TENSOR] = {"tensor", true,
                      " HMMA IMMA BMMA DMMA QMMA OMMA HGMMA IGMMA BGMMA QGMMA UTCHMMA UTCIMMA"
                      " UTCQMMA UTCOMMA "},
    [CLASS_FMA] = {"fma", false,
                   " FFMA FADD FMUL FFMA32I FADD32I FMUL32I FFMA2 FADD2 FMUL2 FSWZADD HFMA2"
                   " HADD2 HMUL2 HFMA2_32I HADD2_32I HMUL2_32I FHFMA FHADD DFMA DADD DMUL UFFMA"
                   " UFADD UFMUL "},
    [CLASS_MUFU] = {"mufu", true, " MUFU "},
    [CLASS_COMPARE] = {"compare", false,
                       " FSETP FSET FSEL FMNMX FMNMX3 FCMP FCHK HSETP2 HSET2 HMNMX2 DSETP DMNMX"
                       " ISETP SEL USEL IMNMX VIMNMX VIMNMX3 VIADDMNMX UVIMNMX UISETP PLOP3 UPLOP3"
                       " PSETP UPSETP P2R R2P UP2UR UR2UP VHMNMX UFSETP UFSET"
                       " UFSEL UFMNMX UIMNMX "},
    [CLASS_INTEGER] = {"integer", false,
                       " IMAD IMAD32I IADD IADD3 IADD32I IABS IMUL IMUL32I ISCADD ISCADD32I LEA"
                       " LOP LOP3 LOP32I SHF SHL SHR BMSK BREV FLO POPC IDP IDP4A SGXT VABSDIFF"
                       " VABSDIFF4 VIADD BFE BFI UIADD3 UIMAD ULEA ULOP ULOP3"
                       " USHF USHL USHR ULOP32I UCLEA UBMSK UBREV UFLO UPOPC USGXT UVIADD UIABS "},
    [CLASS_MOVE] =
        {"move", false,
         " MOV MOV32I UMOV PRMT UPRMT S2R S2UR CS2R CS2UR R2UR F2F F2FP F2I F2IP FRND"
         " I2F I2FP I2I I2IP UF2F UF2FP UF2I UI2F UI2FP UI2I UI2IP MOVM LDC LDCU ULDC UF2IP"
         " GETLMEMBASE SETLMEMBASE"
         " UFRND B2R R2B "},
    [CLASS_LANES] = {"lanes", false, " SHFL VOTE VOTEU MATCH REDUX CREDUX ELECT "},
    [CLASS_SHARED] = {"shared", true,
                      " LDS LDSM STS STSM ATOMS LDT LDTM STT STTM STAS REDAS UMEMSETS "},
    [CLASS_GLOBAL] = {"global", true,
                      " LDG STG LD ST ATOM ATOMG RED REDG QSPC CCTL CCTLL CCTLT LDGMC"
                      " USTGR UREDGR TEX TLD TLD4 TMML TXD TXQ SUATOM SULD SUST SURED "},
    [CLASS_ASYNC] = {"async", true,
                     " LDGSTS LDGDEPBAR DEPBAR ARRIVES UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL"
                     " UTMACMDFLUSH UBLKCP UBLKPF UBLKRED UTCCP UTCBAR UTCSHIFT UTCATOMSWS"
                     " UGETNEXTWORKID "},
    [CLASS_LOCAL] = {"local", true, " LDL STL "},
    [CLASS_BARRIER] = {"barrier", true,
                       " BAR SYNCS MEMBAR FENCE ERRBAR WARPGROUP WARPGROUPSET UCGABAR_ARV"
                       " UCGABAR_WAIT CGAERRBAR WARPSYNC ENDCOLLECTIVE ACQBULK ACQSHMINIT "},
    [CLASS_CONTROL] = {"control", false,
                       " BRA BRX BRXU JMP JMX JMXU BREAK BMOV BSSY BSYNC BPT CALL RET EXIT KILL"
                       " NOP YIELD NANOSLEEP USETMAXREG RPCMOV PMTRIG LEPC SETCTAID"
                       " PREEXIT USETSHMSZ UVIRTCOUNT RTT "},
    [CLASS_OTHER] = {"other", true, " "},
};

static size_t base_length(const char *opcode) { return strcspn(opcode, "."); }

bool opcode_is(const Instruction *instruction, const char *base) {
    const size_t length = base_length(instruction->opcode);
    return strlen(base) == length && strncmp(instruction->opcode, base, length) == 0;
}

/* Whether operand `index` (0: the destination) is `text`, a minus sign aside. */
static bool operand_is(const Instruction *instruction, int index, const char *text) {
    const char *operand = instruction->operands;
    for (; index > 0; index--) {
        operand += strcspn(operand, ",");
        operand += *operand == ',';
    }
    operand += strspn(operand, " -");
    const size_t length = strcspn(operand, ", ");
    return length == strlen(text) && strncmp(operand, text, length) == 0;
}

/* d = 0 * 0 + c moves c; d = 0 + (float)h converts h; both are what ptxas likes to write.
 * IMAD.X adds a carry to c, so it moves nothing. */
static bool is_disguised_move(const Instruction *instruction) {
    if (opcode_is(instruction, "HADD2"))
        return strstr(instruction->opcode, ".F32") && operand_is(instruction, 1, "RZ");
    return (opcode_is(instruction, "IMAD") || opcode_is(instruction, "HFMA2")) &&
           !strstr(instruction->opcode, ".X") && operand_is(instruction, 1, "RZ") &&
           operand_is(instruction, 2, "RZ");
}

static OpcodeClass table_class(const char *opcode) {
    char word[OPCODE_NAME_SIZE];
    snprintf(word, sizeof word, " %.*s ", (int)base_length(opcode), opcode);
    int kind = 0;
    while (kind < CLASS_OTHER && !strstr(classes[kind].opcodes, word)) kind++;
    return (OpcodeClass)kind;
}

bool opcode_never_executes(const Instruction *instruction) {
    return strcmp(instruction->guard, "@!PT") == 0 || strcmp(instruction->guard, "@!UPT") == 0;
}

OpcodeClass opcode_class(const Instruction *instruction) {
    if (opcode_never_executes(instruction)) return CLASS_CONTROL;
    return is_disguised_move(instruction) ? CLASS_MOVE : table_class(instruction->opcode);
}

const char *class_name(OpcodeClass kind) { return classes[kind].name; }

OpcodeClass class_named(const char *name) {
    int kind = 0;
    while (kind < CLASSES && strcmp(classes[kind].name, name) != 0) kind++;
    return (OpcodeClass)kind;
}

const char *opcode_name(const Instruction *instruction, char name[OPCODE_NAME_SIZE]) {
    const char *opcode = instruction->opcode;
    const bool modifiers = classes[opcode_class(instruction)].modifiers;
    const int length = (int)(modifiers ? strlen(opcode) : base_length(opcode));
    const char *never = opcode_never_executes(instruction) ? "@!PT " : "";
    snprintf(name, OPCODE_NAME_SIZE, "%s%.*s", never, length, opcode);
    return name;
}

/* Whether one of the opcode's modifiers is modifier[0..length). */
static bool has_modifier(const char *opcode, const char *modifier, size_t length) {
    for (opcode += base_length(opcode); *opcode; opcode += base_length(opcode)) {
        opcode++;
        if (base_length(opcode) == length && strncmp(opcode, modifier, length) == 0) return true;
    }
    return false;
}

/* Whether the last operand is value[0..length), such as the 0x1 of WARPGROUP.DEPBAR.LE gsb0, 0x1.
 */
static bool has_last_operand(const char *operands, const char *value, size_t length) {
    const char *comma = strrchr(operands, ',');
    const char *last = comma ? comma + 1 + strspn(comma + 1, " ") : operands;
    return strlen(last) == length && strncmp(last, value, length) == 0;
}

bool opcode_matches(const Instruction *instruction, const char *pattern) {
    if (islower((unsigned char)*pattern))
        return strcmp(class_name(opcode_class(instruction)), pattern) == 0;
    if (opcode_never_executes(instruction)) return false;
    size_t length = base_length(pattern);
    if (length != base_length(instruction->opcode) ||
        strncmp(instruction->opcode, pattern, length) != 0)
        return false;
    for (pattern += length; *pattern; pattern += length) {
        length = base_length(++pattern);
        if (!has_modifier(instruction->opcode, pattern, length) &&
            !(pattern[0] == '0' && has_last_operand(instruction->operands, pattern, length)))
            return false;
    }
    return true;
}
