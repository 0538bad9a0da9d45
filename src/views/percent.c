#include "percent.h"

#include <math.h>
#include <stdio.h>

double percent_of(double part, uint64_t whole)
{
    return whole > 0 ? 100 * part / (double)whole : NAN;
}

struct cell percent_cell(int64_t part, uint64_t whole, char buffer[PERCENT_SIZE])
{
    const double percent = percent_of((double)part, whole);

    if (isnan(percent))
        return cell_unknown();
    if (fabs(percent) < 0.05)
        return emphasised(cell_real(0), FAINT);
    if (fabs(percent) < 99.95)
        return cell_real(percent);
    if (fabs(percent) < 9999.5)
        return cell_integer(llround(percent));
    snprintf(buffer, PERCENT_SIZE, "%.0fk", percent / 1000);
    return cell_text(buffer);
}

struct cell unaccounted_cell(int64_t part, uint64_t whole, bool aligned, char buffer[PERCENT_SIZE])
{
    const double percent = 100.0 * (double)part / (double)whole;
    const bool is_nothing = fabs(percent) < 0.05;

    if (whole == 0)
        return cell_unknown();
    snprintf(buffer, PERCENT_SIZE, "%.*f%s", fabs(percent) < 99.95 ? 1 : 0,
             is_nothing ? 0.0 : percent,
             !is_nothing && percent < 0 ? "!"
             : aligned                  ? " "
                                        : "");
    return emphasised(cell_text(buffer), is_nothing ? FAINT : BAD);
}
