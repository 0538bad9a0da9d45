/* The page as data of the program, by the assembler's directives for Windows (views/page/page.c).
 */
#include "views/page/page.h"

#include "page_file.h" /* defines PAGE_FILE; the build writes this header */

extern const char page_end[];

__asm__(".section .rdata, \"dr\"\n"
        ".globl page_html\n"
        "page_html:\n"
        ".incbin \"" PAGE_FILE "\"\n"
        ".globl page_end\n"
        "page_end:\n"
        ".byte 0\n"
        ".text\n");

size_t page_size(void)
{
    return (size_t)(page_end - page_html);
}
