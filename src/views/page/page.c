#include "page.h"

#include "page_file.h" /* defines PAGE_FILE; the build writes this header */

extern const char page_end[];

__asm__(".pushsection .rodata, \"a\", %progbits\n"
        ".global page_html\n"
        "page_html:\n"
        ".incbin \"" PAGE_FILE "\"\n"
        ".global page_end\n"
        "page_end:\n"
        ".byte 0\n"
        ".popsection\n");

size_t page_size(void)
{
    /* cppcheck-suppress comparePointers ; both labels are in the one object that __asm__ defines */
    return (size_t)(page_end - page_html);
}
